package dev.space.privileged;

import java.util.regex.Pattern;

/** Checks of fields; a failure names the field and what it must be. */
final class Checks {

    private Checks() {}

    static void matches(Pattern pattern, String value, String field) {
        if (value.length() > 256 || !pattern.matcher(value).matches()) {
            throw new IllegalArgumentException(field + " must match " + pattern.pattern());
        }
    }

    static void range(long value, long min, long max, String field) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(
                    field + " must be " + min + " to " + max + ", not " + value);
        }
    }

    static void slot(int slot) {
        range(slot, 0, PrivilegedLimits.SLOTS_MAX - 1, "slot");
    }
}
