package dev.space.workflow;

import dev.space.contract.control.EndOperations;
import dev.space.contract.session.CommandAnswer;
import dev.space.contract.session.CommandAnswer.Verdict;
import dev.space.contract.session.SessionRecord;
import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.lifecycle.Decision;
import dev.space.model.lifecycle.Fact;
import dev.space.model.lifecycle.LifecycleTable;
import dev.space.model.lifecycle.Situation;
import io.temporal.workflow.Async;
import io.temporal.workflow.Workflow;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes commands, asks the table, and keeps what runs now, what runs next and what waits. Deciding
 * never yields, so no two handlers can decide on the same situation.
 */
final class Desk {

    /** Commands that can wait for one operation; more are refused. */
    static final int WAITING_MAX = 64;

    /** The longest that a command waits for another operation. */
    static final Duration WAIT_MAX = Duration.ofMinutes(2);

    private static final LifecycleTable TABLE = LifecycleTable.STANDARD;

    private final SessionId session;
    private final OperationContext.RecordHolder holder;
    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private @Nullable Operation current;
    private @Nullable Operation next;

    private static final class Waiting {
        private final Request request;
        private final Command command;
        private boolean decided;

        private Waiting(Request request, Command command) {
            this.request = request;
            this.command = command;
        }
    }

    Desk(SessionId session, OperationContext.RecordHolder holder) {
        this.session = session;
        this.holder = holder;
    }

    // ------------------------------------------------------------ what runs

    /** The operation to run now; null when there is none. */
    @Nullable Operation takeNext() {
        current = next;
        next = null;
        return current;
    }

    boolean nothingComes() {
        return next == null;
    }

    boolean nothingWaits() {
        return waiting.isEmpty();
    }

    void begin(Operation operation) {
        next = operation;
    }

    @Nullable Operation inFlight() {
        return next != null ? next : current;
    }

    Situation situation() {
        return situation(EnumSet.noneOf(Fact.class));
    }

    private Situation situation(Set<Fact> facts) {
        Operation operation = inFlight();
        SessionRecord record = holder.record();
        return new Situation(
                record.state(), operation == null ? null : operation.kind, record.epoch(), facts);
    }

    // ------------------------------------------------------------ commands

    CommandAnswer create(Request request) {
        CommandAnswer known = known(request.operation());
        if (known != null) {
            return known;
        }
        Operation operation = inFlight();
        if (operation == null || !operation.request.operation().equals(request.operation())) {
            Decision decision = TABLE.decideBirth(situation(), OperationKind.CREATE);
            if (decision instanceof Decision.Refuse(ErrorCode code)) {
                return refuse(request, code, code.summary());
            }
            operation = new Operation(request, OperationKind.CREATE, null, null);
            begin(operation);
        }
        return operation.done.get();
    }

    CommandAnswer submit(Request request, Command command) {
        CommandAnswer known = known(request.operation());
        return known != null ? known : decide(request, command).get();
    }

    /** Decides and does what needs no waiting; the supplier gives, and may wait for, the answer. */
    private Supplier<CommandAnswer> decide(Request request, Command command) {
        Decision decision = TABLE.decide(situation(facts(command)), command);
        Operation operation = inFlight();
        return switch (decision) {
            case Decision.Go(OperationKind kind) -> go(request, kind);
            case Decision.Supersede(OperationKind kind) -> supersede(request, kind);
            case Decision.Join _ -> join(request, command, required(operation));
            case Decision.Wait _ -> await(request, command);
            case Decision.Already _ -> () -> already(request);
            case Decision.Refuse(ErrorCode code) -> () -> refuse(request, code, code.summary());
            case Decision.Cancel _ -> cancel(request, command, required(operation));
        };
    }

    private Supplier<CommandAnswer> go(Request request, OperationKind kind) {
        Operation operation = new Operation(request, kind, null, null);
        begin(operation);
        return operation.accepted::get;
    }

    private Supplier<CommandAnswer> supersede(Request request, OperationKind kind) {
        Operation waits = next;
        if (waits != null) { // it never began: its row ends with the DESTROY
            answerBoth(waits, answer(Verdict.REFUSED, waits.request, ErrorCode.GONE, ""));
        }
        Operation running = current;
        OperationId over =
                running != null
                        ? running.request.operation()
                        : waits == null ? null : waits.request.operation();
        Operation operation = new Operation(request, kind, over, null);
        begin(operation);
        if (running != null) {
            running.supersede(request);
        }
        return operation.accepted::get;
    }

    private Supplier<CommandAnswer> join(Request request, Command command, Operation operation) {
        operation.joined.add(request.operation());
        CommandAnswer joined =
                answer(Verdict.JOINED, request, null, command + " joins " + operation.kind);
        return () ->
                new CommandAnswer(
                        joined.verdict(),
                        operation.request.operation(),
                        joined.state(),
                        joined.epoch(),
                        joined.node(),
                        null,
                        joined.detail(),
                        List.of());
    }

    /** What is cancelled ends first; then this is decided on the state that it leaves. */
    private Supplier<CommandAnswer> cancel(Request request, Command command, Operation operation) {
        if (waiting.size() < WAITING_MAX) {
            operation.cancelTransfer(command);
        }
        return await(request, command);
    }

    private Supplier<CommandAnswer> await(Request request, Command command) {
        if (waiting.size() >= WAITING_MAX) {
            return () ->
                    refuse(
                            request,
                            ErrorCode.OPERATION_IN_PROGRESS,
                            "too many commands wait already");
        }
        Waiting entry = new Waiting(request, command);
        waiting.add(entry);
        var _ = Async.procedure(() -> expire(entry));
        return () -> answer(Verdict.WAITING, request, null, "waits for " + whatRuns());
    }

    private void expire(Waiting entry) {
        if (!Workflow.await(WAIT_MAX, () -> entry.decided)) {
            entry.decided = true;
            waiting.remove(entry);
            var _ = refuse(entry.request, ErrorCode.TIMED_OUT, "waited for " + whatRuns());
        }
    }

    /** Decides the first waiting command again; false when none waits. */
    boolean decideNextWaiting() {
        if (holder.record().state() == SessionState.NEW || waiting.isEmpty()) {
            return false; // before its creation there is nothing else to decide than to wait
        }
        Waiting entry = waiting.remove();
        entry.decided = true;
        Supplier<CommandAnswer> answer = decide(entry.request, entry.command);
        if (nothingComes()) {
            var _ = answer.get(); // writes the row; nobody waits for this answer any more
        }
        return true;
    }

    // ------------------------------------------------------------ ends

    void accepted(Operation operation) {
        operation.accepted.complete(answer(Verdict.ACCEPTED, operation.request, null, ""));
    }

    void notAccepted(Operation operation, ErrorCode error, String detail) {
        current = null;
        CommandAnswer answer = answer(Verdict.REFUSED, operation.request, error, detail);
        remember(answer);
        endJoined(operation, 0, OperationState.REFUSED, error, detail);
        answerBoth(operation, answer);
    }

    /** The row has an operation in flight: that one runs, and this is decided again on it. */
    void givesWay(Operation operation, Runnable takeUp) {
        current = null;
        takeUp.run();
        Operation running = required(inFlight());
        Command command = operation.request.command();
        if (running.request.operation().equals(operation.request.operation())) {
            running.joined.addAll(operation.joined);
            accepted(operation);
            operation.done.completeFrom(running.done);
        } else if (command == null) { // the platform's own: what it follows from is judged again
            notAccepted(operation, ErrorCode.OPERATION_IN_PROGRESS, "");
        } else {
            endJoined(operation, 0, OperationState.REFUSED, ErrorCode.OPERATION_IN_PROGRESS, "");
            answerBoth(operation, decide(operation.request, command).get());
        }
    }

    void ended(Operation operation, @Nullable StepFailure failure) {
        current = null;
        CommandAnswer answer;
        if (operation.supersededBy() != null) {
            answer = answer(Verdict.REFUSED, operation.request, ErrorCode.GONE, "superseded");
        } else if (failure != null) {
            answer = answer(Verdict.REFUSED, operation.request, failure.code(), failure.detail());
        } else {
            answer = answer(Verdict.ACCEPTED, operation.request, null, "");
        }
        remember(answer);
        answerBoth(operation, answer);
        if (operation.supersededBy() == null && holder.record().state() != SessionState.DESTROYED) {
            endJoined(
                    operation,
                    operation.joinedWritten(),
                    failure == null ? OperationState.DONE : failure.outcome(),
                    failure == null ? null : failure.code(),
                    failure == null ? "" : failure.detail());
        }
    }

    /** Those that joined after the commit was sent; DESTROYED ends all rows by itself. */
    private void endJoined(
            Operation operation,
            int from,
            OperationState outcome,
            @Nullable ErrorCode error,
            String detail) {
        List<EndOperations.Ended> rows = new ArrayList<>();
        for (OperationId joined : operation.joined.subList(from, operation.joined.size())) {
            rows.add(new EndOperations.Ended(joined, outcome, error, detail));
        }
        if (!rows.isEmpty()) {
            endRows(rows);
        }
    }

    private static void answerBoth(Operation operation, CommandAnswer answer) {
        if (!operation.accepted.isCompleted()) {
            operation.accepted.complete(answer);
        }
        operation.done.complete(answer);
    }

    private CommandAnswer already(Request request) {
        endRows(
                List.of(
                        new EndOperations.Ended(
                                request.operation(), OperationState.DONE, null, "already so")));
        CommandAnswer answer = answer(Verdict.ALREADY, request, null, "");
        remember(answer);
        return answer;
    }

    private CommandAnswer refuse(Request request, ErrorCode code, String detail) {
        CommandAnswer answer = answer(Verdict.REFUSED, request, code, detail);
        endRows(
                List.of(
                        new EndOperations.Ended(
                                request.operation(), OperationState.REFUSED, code, detail)));
        remember(answer);
        return answer;
    }

    private void endRows(List<EndOperations.Ended> rows) {
        EndOperations request = new EndOperations(session, rows);
        var _ =
                StepCalls.database(() -> {
                    Calls.control().endOperations(request);
                    return request;
                });
    }

    // ------------------------------------------------------------ answers

    private @Nullable CommandAnswer known(OperationId operation) {
        return holder.record().ended().stream()
                .filter(a -> a.operation().equals(operation))
                .findFirst()
                .orElse(null);
    }

    private void remember(CommandAnswer answer) {
        holder.become(holder.record().withEnded(answer));
    }

    private CommandAnswer answer(
            Verdict verdict, Request request, @Nullable ErrorCode error, String detail) {
        SessionRecord record = holder.record();
        List<Command> allowed = error == null ? List.of() : TABLE.allowed(situation());
        return new CommandAnswer(
                verdict,
                request.operation(),
                record.state(),
                record.epoch(),
                record.node(),
                error,
                detail,
                allowed);
    }

    private Set<Fact> facts(Command command) {
        SessionRecord record = holder.record();
        Set<Fact> facts = EnumSet.noneOf(Fact.class);
        if (command == Command.DATA_PLANE) {
            facts.add(Fact.AUTO_RESUME); // the edge submits it only for such sessions
        }
        if (record.newest() != null || record.preserved() != null) {
            facts.add(Fact.SNAPSHOT_LEFT);
        }
        Operation operation = inFlight();
        if (operation != null && operation.isCancellable()) {
            facts.add(Fact.CANCELLABLE);
        }
        if (operation != null && operation.isPublished()) {
            facts.add(Fact.PUBLISHED);
        }
        if (record.state() == SessionState.RUNNING) {
            facts.add(Fact.VM_RUNS);
        }
        return facts;
    }

    private String whatRuns() {
        Operation operation = inFlight();
        return operation == null ? "its creation" : operation.kind.toString();
    }

    private static Operation required(@Nullable Operation operation) {
        if (operation == null) {
            throw new IllegalStateException("invariant: the table joined without an operation");
        }
        return operation;
    }
}
