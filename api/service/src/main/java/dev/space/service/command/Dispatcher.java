package dev.space.service.command;

import dev.space.contract.session.CommandAnswer;
import dev.space.contract.session.SubmitCommand;
import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.OperationKind;
import dev.space.model.SessionState;
import dev.space.model.SpaceException;
import dev.space.store.OperationRow;
import dev.space.store.RepairStore;
import dev.space.store.RequestStore;
import dev.space.store.SessionRow;
import io.grpc.Status;
import io.temporal.client.WorkflowNotFoundException;
import io.temporal.client.WorkflowServiceException;
import io.temporal.client.WorkflowUpdateException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Sends REQUESTED rows to workflows, on virtual threads and never more than a bound at once. The
 * reconciler sends the same rows again when this process dies before it did.
 */
@Singleton
public class Dispatcher {
    /** Commands on their way to a workflow from one process. */
    static final int IN_FLIGHT_MAX = 2_000;

    private static final Logger LOG = Logger.getLogger(Dispatcher.class);

    private final SessionWorkflows workflows;
    private final RepairStore rows;
    private final RequestStore requests;
    private final OperationWaiter waiter;
    private final LiveNodes nodes;
    private final Semaphore slots = new Semaphore(IN_FLIGHT_MAX);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @Inject
    public Dispatcher(
            SessionWorkflows workflows,
            RepairStore rows,
            RequestStore requests,
            OperationWaiter waiter,
            LiveNodes nodes) {
        this.nodes = nodes;
        this.workflows = workflows;
        this.rows = rows;
        this.requests = requests;
        this.waiter = waiter;
    }

    /** Sends the operation; the future ends when the workflow answered or cannot be reached. */
    public CompletableFuture<Optional<CommandAnswer>> send(OperationRow operation) {
        return send(operation, null);
    }

    /** As above, with the session's row where the caller has just written or read it. */
    CompletableFuture<Optional<CommandAnswer>> send(
            OperationRow operation, @Nullable SessionRow session) {
        if (!slots.tryAcquire()) {
            return CompletableFuture.failedFuture(
                    new SpaceException(
                            ErrorCode.UNAVAILABLE, "too many commands are on their way"));
        }
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return session == null ? deliver(operation) : deliver(operation, session);
                    } finally {
                        slots.release();
                        waiter.wake(operation.id().value());
                    }
                },
                threads);
    }

    /** Empty when the session needs no workflow for it any more. */
    public Optional<CommandAnswer> deliver(OperationRow operation) {
        return deliver(operation, rows.session(operation.session()).orElseThrow());
    }

    private Optional<CommandAnswer> deliver(OperationRow operation, SessionRow session) {
        if (session.state() == SessionState.DESTROYED) {
            return refuseAsGone(operation);
        }
        if (operation.kind() == OperationKind.CREATE) {
            nodes.await(session.templateDigest());
        }
        try {
            return Optional.of(call(session, operation));
        } catch (WorkflowNotFoundException | WorkflowServiceException failure) {
            if (!isWorkflowGone(failure)) {
                throw failure;
            }
            SessionRow now = rows.session(session.id()).orElseThrow();
            if (now.state() == SessionState.DESTROYED) {
                return refuseAsGone(operation);
            }
            LOG.infof("session %s has no workflow; starting it again", session.id());
            workflows.revive(now);
            return Optional.of(callAgain(now, operation));
        }
    }

    private Optional<CommandAnswer> refuseAsGone(OperationRow operation) {
        requests.refuse(
                operation.session(), operation.id(), ErrorCode.GONE, "the session is destroyed");
        return Optional.empty();
    }

    private CommandAnswer call(SessionRow session, OperationRow operation) {
        SubmitCommand command = command(operation);
        return switch (operation.kind()) {
            case CREATE -> workflows.create(SessionWorkflows.start(session, false), command);
            case DESTROY -> workflows.destroy(SessionWorkflows.start(session, false), command);
            case PREPARE,
                    BIND,
                    PAUSE,
                    RESUME,
                    CHECKPOINT,
                    FORK,
                    ROLLBACK,
                    SUSPEND,
                    RESTORE,
                    RECOVER ->
                    workflows.submit(session.id(), command);
        };
    }

    private CommandAnswer callAgain(SessionRow session, OperationRow operation) {
        return switch (operation.kind()) {
            case CREATE ->
                    workflows.create(SessionWorkflows.start(session, true), command(operation));
            case DESTROY ->
                    workflows.destroy(SessionWorkflows.start(session, true), command(operation));
            default -> workflows.submit(session.id(), command(operation));
        };
    }

    private static SubmitCommand command(OperationRow operation) {
        return operation.kind() == OperationKind.CREATE
                ? SubmitCommand.create(operation.id())
                : new SubmitCommand(
                        operation.id(),
                        Command.valueOf(operation.kind().name()),
                        operation.argument());
    }

    /** A closed workflow answers NOT_FOUND to an update, ALREADY_EXISTS to one with a start. */
    private static boolean isWorkflowGone(Throwable failure) {
        if (failure instanceof WorkflowNotFoundException) {
            return true;
        }
        Status.Code code = Status.fromThrowable(failure).getCode();
        return code == Status.Code.ALREADY_EXISTS || code == Status.Code.NOT_FOUND;
    }

    /** True for a failure of the update itself: the workflow was reached and said no. */
    static boolean wasReached(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof WorkflowUpdateException) {
                return true;
            }
        }
        return false;
    }

    /** Ends the row when no workflow took it, so that its key is free for another try. */
    boolean giveUp(OperationRow operation) {
        return requests.refuse(
                operation.session(),
                operation.id(),
                ErrorCode.UNAVAILABLE,
                "the workflow service could not be reached; try again");
    }
}
