package dev.space.contract.session;

import dev.space.model.OperationId;
import dev.space.model.OperationKind;

/**
 * The operation that runs now.
 *
 * @param epoch epoch its fence carries
 * @param attempt last attempt that was sent; grows through the whole operation
 */
public record InFlight(
        OperationId operation,
        OperationKind kind,
        long number,
        long epoch,
        long attempt,
        String step,
        long acceptedAtMillis) {}
