package dev.space.contract.control;

import dev.space.contract.session.DeadlinePolicy;
import dev.space.contract.session.DurableRef;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.SessionId;
import org.jspecify.annotations.Nullable;

/**
 * What became of an acceptance.
 *
 * @param accepted false: nothing was written, {@code error} says why
 * @param number number of the operation
 * @param epoch the new epoch of a start operation, else the session's current one
 * @param node the chosen node; null when none was asked for or, with {@code accepted} and an {@code
 *     error}, none has room (NO_CAPACITY) or is there (NODE_AWAY)
 * @param tombstone the DESTROY that refused this operation
 * @param deadline the row's deadline when {@code onlyIfDeadlinePassed} did not hold
 * @param target the snapshot that a rollback goes to, that a fork's children continue from, or that
 *     such a child starts from; as the operation's row names it
 * @param acceptLoss a rollback goes on although no safety snapshot can be made
 * @param origin of a fork's child: the session that the target is of
 * @param stored the target, where the object store has it whole: any node can get it
 * @param durable a checkpoint is stored too
 */
public record AcceptAnswer(
        boolean accepted,
        long number,
        long epoch,
        @Nullable String node,
        @Nullable ErrorCode error,
        String detail,
        @Nullable OperationId tombstone,
        @Nullable DeadlinePolicy deadline,
        @Nullable SnapshotRef target,
        boolean acceptLoss,
        @Nullable SessionId origin,
        @Nullable DurableRef stored,
        boolean durable) {}
