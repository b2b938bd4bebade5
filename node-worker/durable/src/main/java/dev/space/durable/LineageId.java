package dev.space.durable;

import java.util.regex.Pattern;

/**
 * Names a lineage: a session and its forks inside one project, by the id of the session that it
 * began with. They share one key for what they store, and only they share chunks.
 */
public record LineageId(String value) {

    private static final Pattern FORM = Pattern.compile("[a-z0-9_]{1,64}");

    public LineageId {
        if (!FORM.matcher(value).matches()) {
            throw new IllegalArgumentException("not a lineage: " + value);
        }
    }

    @Override
    public String toString() {
        return value;
    }
}
