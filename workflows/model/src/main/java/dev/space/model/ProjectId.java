package dev.space.model;

/**
 * Id of a project; sessions belong to exactly one. Format: {@code prj_} and 26 lower-case base-32
 * characters.
 */
public record ProjectId(String value) implements Id {

    /** What every id of this kind starts with. */
    public static final String PREFIX = "prj";

    public ProjectId {
        Ids.check(PREFIX, value);
    }

    @Override
    public String toString() {
        return value;
    }
}
