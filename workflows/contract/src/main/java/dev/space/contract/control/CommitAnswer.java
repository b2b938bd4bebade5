package dev.space.contract.control;

import dev.space.model.OperationId;
import org.jspecify.annotations.Nullable;

/**
 * Whether the row took the write.
 *
 * @param written false: the fence of the row refused the write
 * @param tombstone the DESTROY that is wanted, when that was the reason
 */
public record CommitAnswer(boolean written, @Nullable OperationId tombstone) {}
