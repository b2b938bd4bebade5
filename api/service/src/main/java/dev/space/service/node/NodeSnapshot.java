package dev.space.service.node;

import dev.space.model.Ids;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;
import dev.space.model.SnapshotReason;
import dev.space.nodeapi.v1.SnapshotTaken;
import dev.space.store.CommitStore;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;

/**
 * A snapshot as a node tells it, checked: a node's word is not trusted to be well formed.
 *
 * @param rolling the node made it by itself
 */
public record NodeSnapshot(CommitStore.Snapshot row, boolean quiesced, boolean rolling) {

    /** Empty when it is malformed. */
    public static Optional<NodeSnapshot> of(SnapshotTaken taken, String node) {
        boolean well =
                Ids.isValid(SnapshotId.PREFIX, taken.getSnapshotId())
                        && Arrays.stream(SnapshotKind.values())
                                .anyMatch(kind -> kind.name().equals(taken.getKind()))
                        && taken.getBytes() >= 0
                        && taken.getTakenAtMillis() >= 0;
        if (!well) {
            return Optional.empty();
        }
        CommitStore.Snapshot row =
                new CommitStore.Snapshot(
                        new SnapshotId(taken.getSnapshotId()),
                        SnapshotKind.valueOf(taken.getKind()),
                        node,
                        taken.getEpoch(),
                        taken.getStop(),
                        taken.getBytes(),
                        Instant.ofEpochMilli(taken.getTakenAtMillis()));
        return Optional.of(
                new NodeSnapshot(
                        row,
                        taken.getQuiesced(),
                        taken.getReason().equals(SnapshotReason.ROLLING.name())));
    }
}
