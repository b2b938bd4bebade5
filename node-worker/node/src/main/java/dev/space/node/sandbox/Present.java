package dev.space.node.sandbox;

import dev.space.model.SnapshotId;
import org.jspecify.annotations.Nullable;

/**
 * What the session's present is: the epoch that ran last and the snapshot it began with. Snapshots
 * of other epochs may belong to a past that a rollback left.
 *
 * @param source null: the template
 */
record Present(long epoch, @Nullable SnapshotId source) {}
