package dev.space.contract.node;

import dev.space.model.SnapshotId;

/**
 * Keeps one snapshot of the session from the node's own retention: the operation, or the children
 * that it makes, will start from it. Refused where the snapshot is gone or damaged.
 */
public record HoldSnapshot(StepRef ref, SnapshotId snapshot) {}
