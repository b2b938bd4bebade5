package dev.space.store;

import dev.space.model.SnapshotId;
import org.jspecify.annotations.Nullable;

/**
 * What a command was sent with, as its row keeps it.
 *
 * @param name name for the snapshot of a CHECKPOINT
 * @param snapshot where a ROLLBACK goes to
 * @param acceptLoss a ROLLBACK goes on although no safety snapshot can be made
 */
public record CommandArguments(
        @Nullable String name, @Nullable SnapshotId snapshot, boolean acceptLoss) {

    /** Of a command that takes none. */
    public static final CommandArguments NONE = new CommandArguments(null, null, false);
}
