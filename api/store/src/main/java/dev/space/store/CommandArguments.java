package dev.space.store;

import dev.space.model.SnapshotId;
import org.jspecify.annotations.Nullable;

/**
 * What a command was sent with, as its row keeps it.
 *
 * @param name name for the snapshot of a CHECKPOINT
 * @param snapshot where a ROLLBACK goes to
 * @param acceptLoss a ROLLBACK goes on although no safety snapshot can be made
 * @param durable the snapshot of a CHECKPOINT is stored too
 */
public record CommandArguments(
        @Nullable String name, @Nullable SnapshotId snapshot, boolean acceptLoss, boolean durable) {

    /** Of a command that takes none. */
    public static final CommandArguments NONE = new CommandArguments(null, null, false, false);
}
