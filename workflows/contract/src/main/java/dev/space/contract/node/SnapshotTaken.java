package dev.space.contract.node;

import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;

/**
 * A published snapshot.
 *
 * @param epoch epoch of the sandbox it was taken from
 * @param stop number of the stop inside the epoch; "newest" means highest (epoch, stop)
 * @param takenAtMillis Unix time in milliseconds
 * @param quiesced false when the workload could not be frozen in time
 * @param pauseMicros how long the guest stood still, in microseconds
 */
public record SnapshotTaken(
        SnapshotId snapshot,
        SnapshotKind kind,
        long epoch,
        long stop,
        long bytes,
        long takenAtMillis,
        boolean quiesced,
        long pauseMicros) {}
