package dev.space.contract.session;

import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.SessionId;
import org.jspecify.annotations.Nullable;

/**
 * The operation that runs now.
 *
 * @param epoch epoch its fence carries
 * @param attempt last attempt that was sent; grows through the whole operation
 * @param target where a rollback goes to; what a fork or one of its children continues from
 * @param acceptLoss a rollback goes on although no safety snapshot can be made
 * @param origin of a fork's child: the session that the target is of; null: it is of this one
 * @param stored the target, where the object store has it whole
 * @param durable a checkpoint is stored too
 */
public record InFlight(
        OperationId operation,
        OperationKind kind,
        long number,
        long epoch,
        long attempt,
        String step,
        long acceptedAtMillis,
        @Nullable SnapshotRef target,
        boolean acceptLoss,
        @Nullable SessionId origin,
        @Nullable DurableRef stored,
        boolean durable) {

    public InFlight atStep(String nextStep, long nextAttempt) {
        return new InFlight(
                operation,
                kind,
                number,
                epoch,
                nextAttempt,
                nextStep,
                acceptedAtMillis,
                target,
                acceptLoss,
                origin,
                stored,
                durable);
    }

    public InFlight underEpoch(long next) {
        return new InFlight(
                operation,
                kind,
                number,
                next,
                attempt,
                step,
                acceptedAtMillis,
                target,
                acceptLoss,
                origin,
                stored,
                durable);
    }
}
