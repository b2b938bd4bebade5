package dev.space.contract.node;

import dev.space.model.SnapshotId;

/**
 * Publishes the disk of a dead sandbox as a DISK snapshot, before anything else of it is touched.
 */
public record PreserveDisk(StepRef ref, SnapshotId snapshot) {}
