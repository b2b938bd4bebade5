package dev.space.contract.control;

import dev.space.model.ErrorCode;
import org.jspecify.annotations.Nullable;

/**
 * The new node, or why there is none.
 *
 * @param moved false: nothing was written, {@code error} says why (NO_CAPACITY, STALE_FENCE, GONE,
 *     NODE_UNREACHABLE when the lease is not over yet)
 */
public record MoveAnswer(
        boolean moved, long epoch, @Nullable String node, @Nullable ErrorCode error) {}
