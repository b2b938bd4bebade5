package dev.space.model;

/**
 * Id of a session; also the id of its workflow. Format: {@code ses_} and 26 lower-case base-32
 * characters.
 */
public record SessionId(String value) implements Id {

    /** What every id of this kind starts with. */
    public static final String PREFIX = "ses";

    public SessionId {
        Ids.check(PREFIX, value);
    }

    @Override
    public String toString() {
        return value;
    }
}
