package dev.space.workflow;

import dev.space.contract.control.AcceptAnswer;
import dev.space.contract.control.ControlActivities.LoadedSession;
import dev.space.contract.session.CommandAnswer;
import dev.space.contract.session.DeadlinePolicy;
import dev.space.contract.session.IdleReport;
import dev.space.contract.session.InFlight;
import dev.space.contract.session.KeyRevokedReport;
import dev.space.contract.session.NodeChange;
import dev.space.contract.session.NodeFullReport;
import dev.space.contract.session.Reason;
import dev.space.contract.session.SessionRecord;
import dev.space.contract.session.SessionStart;
import dev.space.contract.session.SessionWorkflow;
import dev.space.contract.session.SubmitCommand;
import dev.space.contract.session.VmExit;
import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.ReasonCode;
import dev.space.model.SessionState;
import dev.space.model.lifecycle.LifecycleTable;
import io.temporal.failure.ApplicationFailure;
import io.temporal.workflow.Workflow;
import io.temporal.workflow.WorkflowInit;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One session's whole life. Handlers decide by the table and say what is to run; one loop runs it.
 * The record is replaced in one method and is all that continue-as-new hands over. What a command
 * or an event means is in {@link Desk} and {@link Policies}; what an operation does in {@link
 * OperationSteps}.
 */
public final class SessionWorkflowImpl implements SessionWorkflow {

    /** Temporal takes 2000 Updates in one run; a new run costs little. */
    static final int UPDATES_MAX = 200;

    private final OperationContext.RecordHolder holder;
    private final Desk desk;
    private SessionStart session;
    private Policies policies;
    private OperationRunner runner;
    private Visibility visibility;
    private SessionRecord record;
    private boolean ahead;
    private boolean ready;
    private int updates;

    /** Before any handler runs: none ever sees a session that is half built. */
    @WorkflowInit
    public SessionWorkflowImpl(SessionStart start) {
        session = start;
        SessionRecord handedOver = start.record();
        record = handedOver != null ? handedOver : fresh(start);
        holder =
                new OperationContext.RecordHolder() {
                    @Override
                    public SessionRecord record() {
                        return record;
                    }

                    @Override
                    public void become(SessionRecord next) {
                        record = next;
                    }
                };
        desk = new Desk(start.session(), holder);
        policies = new Policies(start, desk, holder);
        runner = new OperationRunner(start, holder);
        visibility = new Visibility(start);
        ready = !start.restored();
        ahead = start.ahead();
    }

    private static SessionRecord fresh(SessionStart start) {
        return SessionRecord.fresh(start.deadline(), new Reason(ReasonCode.USER, "", now()));
    }

    /** The session is asked for: what was not known when the workflow started is known now. */
    private void becomes(@Nullable SessionStart known) {
        if (!ahead || known == null) {
            return;
        }
        session = known;
        record = fresh(known);
        policies = new Policies(known, desk, holder);
        runner = new OperationRunner(known, holder);
        visibility = new Visibility(known);
        ready = !known.restored();
        ahead = false;
    }

    @Override
    public void run(SessionStart start) {
        if (ahead) {
            Workflow.setCurrentDetails("Started ahead; no session has this id yet.");
            var _ = Workflow.await(AHEAD_MAX, () -> !ahead);
        }
        if (ahead) {
            return; // nobody knows this id
        }
        if (session.restored()) {
            goOn();
            ready = true;
        }
        while (record.state() != SessionState.DESTROYED) {
            Operation operation = desk.takeNext();
            if (operation != null) {
                carryOut(operation);
                visibility.show(record);
            } else if (!policies.judgeNext() && !desk.decideNextWaiting()) {
                continueAsNewWhenDue();
                awaitSomething();
            }
        }
        Workflow.await(Workflow::isEveryHandlerFinished);
    }

    @Override
    public CommandAnswer create(SubmitCommand request, @Nullable SessionStart start) {
        becomes(start);
        awaitReady();
        return desk.create(byUser(request));
    }

    @Override
    public CommandAnswer submit(SubmitCommand request) {
        awaitReady();
        Command command = request.command();
        if (command == null) {
            throw ApplicationFailure.newNonRetryableFailure(
                    "a command is missing", ErrorCode.INVALID_ARGUMENT.name());
        }
        return desk.submit(byUser(request), command);
    }

    @Override
    public void checkSubmit(SubmitCommand request) {
        if (request.command() == null || request.command() == Command.DESTROY) {
            throw ApplicationFailure.newNonRetryableFailure(
                    "submit takes every command but DESTROY, which has its own Update",
                    ErrorCode.INVALID_ARGUMENT.name());
        }
    }

    @Override
    public CommandAnswer destroy(SubmitCommand request, @Nullable SessionStart start) {
        becomes(start);
        awaitReady();
        return desk.submit(byUser(request), Command.DESTROY);
    }

    @Override
    public void vmExited(VmExit exit) {
        policies.arrived(new Incoming.Exit(exit));
    }

    @Override
    public void nodeChanged(NodeChange change) {
        policies.arrived(new Incoming.Node(change));
    }

    @Override
    public void idle(IdleReport report) {
        policies.arrived(new Incoming.Idle(report));
    }

    @Override
    public void nodeFull(NodeFullReport report) {
        policies.arrived(new Incoming.NodeFull(report));
    }

    @Override
    public void keyRevoked(KeyRevokedReport report) {
        policies.arrived(new Incoming.KeyRevoked(report));
    }

    @Override
    public void deadlineChanged(@Nullable DeadlinePolicy deadline) {
        record = record.withDeadline(deadline);
    }

    @Override
    public SessionRecord record() {
        return record;
    }

    private void awaitReady() {
        updates++;
        Workflow.await(() -> ready);
    }

    private void carryOut(Operation operation) {
        AcceptAnswer answer = runner.accept(operation);
        boolean known = answer.accepted() && answer.number() <= record.number();
        if (known && operation.begun == null) {
            givesWay(operation, answer); // to itself: a task that was lost has begun it
            return;
        }
        if (answer.accepted() && operation.begun == null) {
            learn(answer.number());
        }
        runner.begin(operation, answer);
        if (!answer.accepted()) {
            refusedByRow(operation, answer);
            return;
        }
        visibility.tell(record);
        desk.accepted(operation);
        StepFailure failure = null;
        try {
            failure = runner.run(operation);
        } catch (Overtaken e) {
            failure = new StepFailure(ErrorCode.STALE_FENCE, "a newer operation overtook this one");
            if (e.tombstone() == null) {
                reload();
            }
            destroyOn(e.tombstone());
        }
        record = record.withoutInFlight();
        desk.ended(operation, failure);
    }

    private void refusedByRow(Operation operation, AcceptAnswer answer) {
        if (answer.deadline() != null) {
            record = record.withDeadline(answer.deadline());
        }
        ErrorCode error = answer.error() == null ? ErrorCode.STALE_FENCE : answer.error();
        OperationId tombstone = answer.tombstone();
        boolean own = operation.request.operation().equals(tombstone);
        if (tombstone != null && !own) {
            desk.notAccepted(operation, error, answer.detail());
            destroyOn(tombstone);
        } else if (error == ErrorCode.PRECONDITION_FAILED) {
            desk.notAccepted(operation, error, answer.detail());
        } else if (error == ErrorCode.OPERATION_IN_PROGRESS) {
            givesWay(operation, answer);
        } else {
            // a lost workflow task ran this operation to its end: the row knows how
            reload();
            SessionState to = LifecycleTable.STANDARD.operation(operation.kind).to();
            if (error == ErrorCode.STALE_FENCE && record.state() == to) {
                desk.ended(operation, null);
            } else {
                desk.notAccepted(operation, error, answer.detail());
            }
        }
    }

    /**
     * A workflow task that was lost began another operation than its repetition did, or came
     * further with this one: the row has it in flight, and nobody else will ever end it.
     */
    private void givesWay(Operation operation, AcceptAnswer answer) {
        LoadedSession loaded = load();
        InFlight begun = loaded == null ? null : goesOn(loaded);
        if (loaded == null || begun == null) {
            reload(); // it has ended meanwhile
            desk.notAccepted(operation, ErrorCode.OPERATION_IN_PROGRESS, answer.detail());
            return;
        }
        desk.givesWay(operation, () -> takeUp(loaded, begun));
        Incoming because = operation.because;
        if (because != null) {
            policies.arrived(because); // is judged again when that one has ended
        }
    }

    /**
     * A workflow task that was lost may have carried out operations that its repetition decided
     * otherwise: what they left, and on which nodes, only the row knows.
     */
    private void learn(long accepted) {
        if (accepted > record.number() + 1) {
            LoadedSession loaded = load();
            if (loaded != null) {
                record = known(loaded);
            }
        }
    }

    private void reload() {
        LoadedSession loaded = load();
        if (loaded != null) {
            record = known(loaded);
            InFlight begun = goesOn(loaded);
            if (begun != null && desk.nothingComes()) {
                takeUp(loaded, begun);
            } else if (record.state() != SessionState.DESTROYED) {
                destroyOn(loaded.tombstone());
            }
        }
    }

    /** Without the run before it: the row has the state, and perhaps an operation in flight. */
    private void goOn() {
        LoadedSession loaded = load();
        if (loaded == null) {
            return;
        }
        InFlight begun = goesOn(loaded);
        if (begun != null) {
            takeUp(loaded, begun);
            return;
        }
        record = known(loaded);
        if (record.state() != SessionState.DESTROYED) {
            destroyOn(loaded.tombstone());
        }
    }

    /** What the row has in flight; null where a tombstone wants something else. */
    private static @Nullable InFlight goesOn(LoadedSession loaded) {
        InFlight begun = loaded.record().inFlight();
        OperationId tombstone = loaded.tombstone();
        boolean wanted =
                begun != null && (tombstone == null || tombstone.equals(begun.operation()));
        return wanted ? begun : null;
    }

    /** The record becomes what the row says, and what the row has in flight runs next. */
    private void takeUp(LoadedSession loaded, InFlight begun) {
        record = known(loaded);
        if (begun.kind() == OperationKind.RECOVER) { // its VM is not to be heard of again
            record = record.withState(record.state(), null, record.reason());
        }
        Reason reason = new Reason(record.reason().code(), "", now());
        desk.begin(
                Operation.goingOn(
                        new Request(begun.operation(), null, loaded.name(), false, false, reason),
                        begun));
    }

    /** What the row does not have is kept. */
    private SessionRecord known(LoadedSession loaded) {
        SessionRecord next = loaded.record().withoutInFlight().withNodeAway(record.nodeAway());
        for (CommandAnswer answer : record.ended()) {
            next = next.withEnded(answer);
        }
        return next;
    }

    private @Nullable LoadedSession load() {
        return StepCalls.database(() -> Calls.control().loadSession(session.session()));
    }

    /** A tombstone is an order: the workflow that meets one runs DESTROY and nothing else. */
    private void destroyOn(@Nullable OperationId tombstone) {
        if (tombstone != null && desk.nothingComes()) {
            Reason reason = new Reason(ReasonCode.USER, "", now());
            desk.begin(
                    new Operation(
                            new Request(tombstone, Command.DESTROY, null, false, false, reason),
                            OperationKind.DESTROY,
                            null,
                            null));
        }
    }

    private void awaitSomething() {
        DeadlinePolicy deadline = record.deadline();
        if (deadline == null) {
            Workflow.await(() -> somethingToDo(null));
            return;
        }
        Duration left = Duration.ofMillis(Math.max(1, deadline.atMillis() - now()));
        if (!Workflow.await(left, () -> somethingToDo(deadline))) {
            policies.arrived(new Incoming.DeadlineDue());
        }
    }

    private boolean somethingToDo(@Nullable DeadlinePolicy deadline) {
        return !desk.nothingComes()
                || policies.somethingHeld()
                || !Objects.equals(deadline, record.deadline())
                || continueAsNewIsDue();
    }

    private boolean continueAsNewIsDue() {
        boolean grown = updates >= UPDATES_MAX || Workflow.getInfo().isContinueAsNewSuggested();
        return grown && desk.nothingWaits() && Workflow.isEveryHandlerFinished();
    }

    /** Only here: nothing is in flight, nothing waits, nothing is held. */
    private void continueAsNewWhenDue() {
        if (continueAsNewIsDue()) {
            Workflow.continueAsNew(session.continuedWith(record));
        }
    }

    private static Request byUser(SubmitCommand request) {
        return new Request(
                request.operation(),
                request.command(),
                request.name(),
                false,
                false,
                new Reason(ReasonCode.USER, "", now()));
    }

    private static long now() {
        return Workflow.currentTimeMillis();
    }
}
