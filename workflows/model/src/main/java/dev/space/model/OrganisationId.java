package dev.space.model;

/**
 * Id of an organisation, which owns projects. Format: {@code org_} and 26 lower-case base-32
 * characters.
 */
public record OrganisationId(String value) implements Id {

    /** What every id of this kind starts with. */
    public static final String PREFIX = "org";

    public OrganisationId {
        Ids.check(PREFIX, value);
    }

    @Override
    public String toString() {
        return value;
    }
}
