package dev.space.contract.node;

import dev.space.model.SnapshotId;

/** Makes the snapshot of this id; asking again for the same id gives the same snapshot. */
public record TakeSnapshot(StepRef ref, SnapshotId snapshot) {}
