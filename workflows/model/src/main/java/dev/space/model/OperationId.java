package dev.space.model;

/** Id of one lifecycle command's row. Format: {@code op_} and 26 lower-case base-32 characters. */
public record OperationId(String value) implements Id {

    /** What every id of this kind starts with. */
    public static final String PREFIX = "op";

    public OperationId {
        Ids.check(PREFIX, value);
    }

    @Override
    public String toString() {
        return value;
    }
}
