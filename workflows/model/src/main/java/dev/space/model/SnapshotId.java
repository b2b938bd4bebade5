package dev.space.model;

/**
 * Id of a snapshot, chosen by the control plane before the snapshot is made. Format: {@code snp_}
 * and 26 lower-case base-32 characters.
 */
public record SnapshotId(String value) implements Id {

    /** What every id of this kind starts with. */
    public static final String PREFIX = "snp";

    public SnapshotId {
        Ids.check(PREFIX, value);
    }

    @Override
    public String toString() {
        return value;
    }
}
