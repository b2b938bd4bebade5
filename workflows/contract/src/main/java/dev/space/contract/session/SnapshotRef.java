package dev.space.contract.session;

import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;

/** A published snapshot and where it is. "Newest" means highest (epoch, stop). */
public record SnapshotRef(
        SnapshotId id,
        SnapshotKind kind,
        String node,
        long epoch,
        long stop,
        long bytes,
        long takenAtMillis) {

    /** True when this was taken after the other. */
    public boolean newerThan(SnapshotRef other) {
        return epoch != other.epoch ? epoch > other.epoch : stop > other.stop;
    }
}
