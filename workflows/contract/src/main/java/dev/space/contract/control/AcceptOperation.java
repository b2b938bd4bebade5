package dev.space.contract.control;

import dev.space.contract.session.Reason;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.SessionId;
import org.jspecify.annotations.Nullable;

/**
 * Asks the row to accept an operation.
 *
 * @param kind what the table made of the command: RESUME of a failed session is a RECOVER
 * @param automatic no row exists yet: insert it. An automatic DESTROY also writes the tombstone.
 * @param onlyIfDeadlinePassed refuse with PRECONDITION_FAILED, answering the row's deadline, when
 *     it was extended
 * @param supersedes ends as SUPERSEDED in the same transaction
 * @param place choose a node for the session and write it down as one that a start was sent to
 */
public record AcceptOperation(
        SessionId session,
        OperationId operation,
        OperationKind kind,
        boolean automatic,
        boolean onlyIfDeadlinePassed,
        @Nullable OperationId supersedes,
        boolean place,
        Reason reason) {}
