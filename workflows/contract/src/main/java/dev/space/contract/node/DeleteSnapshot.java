package dev.space.contract.node;

import dev.space.model.SnapshotId;

/** Removes one snapshot; removing what is not there is success. */
public record DeleteSnapshot(StepRef ref, SnapshotId snapshot) {}
