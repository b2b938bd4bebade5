package dev.space.workflow;

import dev.space.model.OperationId;
import org.jspecify.annotations.Nullable;

/** The session's row refused a write: something newer holds it. Nothing is undone. */
final class Overtaken extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient @Nullable OperationId tombstone;

    Overtaken(@Nullable OperationId tombstone) {
        super("the session's row refused the write");
        this.tombstone = tombstone;
    }

    /** The DESTROY that is wanted, when a tombstone was the reason. */
    @Nullable OperationId tombstone() {
        return tombstone;
    }
}
