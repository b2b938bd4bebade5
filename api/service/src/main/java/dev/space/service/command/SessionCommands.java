package dev.space.service.command;

import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SpaceException;
import dev.space.model.lifecycle.LifecycleTable;
import dev.space.model.lifecycle.Situation;
import dev.space.service.problem.ProblemException;
import dev.space.store.CommandArguments;
import dev.space.store.OperationRow;
import dev.space.store.RepairStore;
import dev.space.store.RequestStore;
import dev.space.store.RequestStore.IdempotencyKey;
import dev.space.store.RequestStore.Requested;
import dev.space.store.RequestStore.Written;
import dev.space.store.SessionRow;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jboss.logging.Logger;
import org.jboss.logging.MDC;
import org.jspecify.annotations.Nullable;

/**
 * Lifecycle commands from the API: the row first, then the workflow, then the wait for the row's
 * end. It decides nothing; the workflow asks the lifecycle table.
 */
@Singleton
public class SessionCommands {
    private static final Logger LOG = Logger.getLogger(SessionCommands.class);

    private final RequestStore requests;
    private final RepairStore rows;
    private final Dispatcher dispatcher;
    private final OperationWaiter waiter;
    private final IdSource ids;
    private final WorkflowsAhead ahead;
    private final MeterRegistry metrics;

    @Inject
    public SessionCommands(
            RequestStore requests,
            RepairStore rows,
            Dispatcher dispatcher,
            OperationWaiter waiter,
            IdSource ids,
            WorkflowsAhead ahead,
            MeterRegistry metrics) {
        this.requests = requests;
        this.rows = rows;
        this.dispatcher = dispatcher;
        this.waiter = waiter;
        this.ids = ids;
        this.ahead = ahead;
        this.metrics = metrics;
    }

    /** Writes session and CREATE down and sends them off. */
    public Requested create(
            RequestStore.NewSession session,
            String actor,
            @Nullable IdempotencyKey key,
            Duration wait) {
        long began = System.nanoTime();
        Requested requested = requests.create(session, ids.operation(), actor, key);
        if (!requested.session().equals(session.id())) {
            ahead.unused(session.id());
        }
        phase("written", began);
        sendAndWait(requested, wait);
        phase("answered", began);
        return requested;
    }

    /** Any other command of the table. */
    public Requested command(
            String project,
            SessionId session,
            Command command,
            CommandArguments arguments,
            String actor,
            @Nullable IdempotencyKey key,
            Duration wait) {
        OperationKind kind = OperationKind.valueOf(command.name());
        if (!LifecycleTable.AVAILABLE.contains(kind)) {
            throw new SpaceException(
                    ErrorCode.NOT_AVAILABLE,
                    command.name().toLowerCase(Locale.ROOT) + " is not part of this release");
        }
        Requested requested =
                requests.command(project, session, ids.operation(), kind, actor, arguments, key);
        sendAndWait(requested, wait);
        return requested;
    }

    /** The tombstone first, then DESTROY. */
    public Requested destroy(
            String project,
            SessionId session,
            String actor,
            @Nullable IdempotencyKey key,
            Duration wait) {
        Requested requested = requests.destroy(project, session, ids.operation(), actor, key);
        boolean over = rows.session(session).orElseThrow().state() == SessionState.DESTROYED;
        if (!over) {
            sendAndWait(requested, wait);
        }
        return requested;
    }

    void sendAndWait(Requested requested, Duration wait) {
        if (requested.answerBody() != null) {
            return;
        }
        Written written = requested.written();
        OperationRow row =
                written == null
                        ? rows.operation(requested.operation()).orElseThrow()
                        : written.operation();
        MDC.put("session", row.session().value());
        MDC.put("operation", row.id().value());
        try {
            if (row.state() != OperationState.REQUESTED) {
                if (!wait.isZero()) {
                    ended(row, wait, waiter.await(row.id(), wait));
                }
                return;
            }
            LOG.infof("%s requested", row.kind());
            send(row, written == null ? null : written.session(), wait);
        } finally {
            MDC.remove("session");
            MDC.remove("operation");
        }
    }

    private void send(OperationRow row, @Nullable SessionRow session, Duration wait) {
        if (wait.isZero()) {
            var _ = dispatcher.send(row, session);
            return;
        }
        CompletableFuture<Boolean> failed = new CompletableFuture<>();
        Runnable send =
                () -> {
                    var _ =
                            dispatcher
                                    .send(row, session)
                                    .handle((answer, failure) ->
                                            failed.complete(failure != null && lost(row, failure)));
                };
        Optional<OperationRow> now = waiter.await(row.id(), wait, send);
        boolean open = now.isEmpty() || !now.get().state().ended();
        if (open && failed.getNow(false)) {
            throw new SpaceException(
                    ErrorCode.UNAVAILABLE, "the workflow service could not be reached; try again");
        }
        ended(row, wait, now);
    }

    private void ended(OperationRow before, Duration wait, Optional<OperationRow> now) {
        OperationRow row = now.orElse(before);
        if (!row.state().ended()) {
            throw timedOut(row, wait);
        }
        finish(row);
    }

    /** No workflow has it: ends the row at once, instead of letting the caller wait for nothing. */
    private boolean lost(OperationRow sent, Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        LOG.warnf("operation %s could not be delivered: %s", sent.id(), cause);
        boolean ended = !Dispatcher.wasReached(failure) && dispatcher.giveUp(sent);
        waiter.wake(sent.id().value());
        return ended;
    }

    /** Throws what the operation ended with, unless that is success. */
    public void finish(OperationRow row) {
        countUnaccepted(row);
        if (row.state() == OperationState.DONE) {
            return;
        }
        throw problem(row);
    }

    /** What was accepted is counted where it is committed. */
    private void countUnaccepted(OperationRow row) {
        if (row.number() == 0) {
            metrics.counter(
                            "space_operations",
                            "kind",
                            row.kind().name(),
                            "outcome",
                            row.state().name(),
                            "code",
                            row.error() == null ? "OK" : row.error().name())
                    .increment();
        }
    }

    /** The refusal of an ended operation, with what the session's state allows. */
    public ProblemException problem(OperationRow row) {
        ErrorCode code = row.error() == null ? ErrorCode.STALE_FENCE : row.error();
        String detail = row.detail() == null ? code.summary() : row.detail();
        SessionRow session = rows.session(row.session()).orElseThrow();
        return new ProblemException(code, detail, row.id(), session.state(), allowed(session));
    }

    private List<Command> allowed(SessionRow session) {
        OperationKind inFlight =
                Optional.ofNullable(session.operation())
                        .flatMap(rows::operation)
                        .filter(row -> row.state() == OperationState.ACCEPTED)
                        .map(OperationRow::kind)
                        .orElse(null);
        return LifecycleTable.STANDARD.allowed(
                new Situation(session.state(), inFlight, session.epoch(), Set.of()));
    }

    private static ProblemException timedOut(OperationRow row, Duration wait) {
        return new ProblemException(
                ErrorCode.TIMED_OUT,
                "operation "
                        + row.id()
                        + " did not end within "
                        + wait.toSeconds()
                        + " s; it goes on: GET /v1/operations/"
                        + row.id()
                        + "?wait=60",
                row.id(),
                null,
                List.of());
    }

    /** Waits for an operation of somebody else; answers its row. */
    public OperationRow await(OperationId operation, Duration wait) {
        return waiter.await(operation, wait)
                .orElseThrow(() ->
                        new SpaceException(
                                ErrorCode.NOT_FOUND, "there is no operation " + operation));
    }

    private void phase(String name, long began) {
        Timer.builder("space_session_create")
                .tag("phase", name)
                .publishPercentileHistogram()
                .register(metrics)
                .record(Duration.ofNanos(System.nanoTime() - began));
    }
}
