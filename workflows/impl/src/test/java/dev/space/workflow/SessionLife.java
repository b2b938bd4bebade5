package dev.space.workflow;

import dev.space.contract.session.DeadlinePolicy;
import dev.space.contract.session.IdleReport;
import dev.space.contract.session.KeyRevokedReport;
import dev.space.contract.session.NodeChange;
import dev.space.contract.session.NodeFullReport;
import dev.space.contract.session.PolicyAction;
import dev.space.contract.session.SessionRecord;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.Command;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import dev.space.testkit.FakeNode;
import dev.space.testkit.FakeStore;
import dev.space.testkit.Faults;
import io.temporal.common.WorkflowExecutionHistory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One session's random life in a world of its own: what is asked of it and what happens to it. What
 * must hold meanwhile and afterwards is in {@link LifeChecks}. No call is waited for longer than
 * {@link #CALL}, and what the reconciler does in the product is done here by {@link #repair}.
 */
final class SessionLife implements AutoCloseable {

    /** Faults of one life: enough to meet each other, few enough to come to an end. */
    private static final int FAULTS = 6;

    /** Longer than any answer takes that comes at all. */
    private static final Duration CALL = Duration.ofSeconds(10);

    private static final Duration SETTLES = Duration.ofMillis(200);

    /** How far in the future a deadline is set: it may come during the next operation. */
    private static final long DEADLINE_MILLIS = 1_500;

    /** One thing that is asked or happens. */
    enum Act {
        PAUSE(Command.PAUSE),
        RESUME(Command.RESUME),
        CHECKPOINT(Command.CHECKPOINT),
        RECOVER(Command.RECOVER),
        SUSPEND(Command.SUSPEND),
        RESTORE(Command.RESTORE),
        DATA_PLANE(Command.DATA_PLANE),
        /** Back to any snapshot that is listed. */
        ROLLBACK,
        ROLLBACK_WITH_LOSS,
        /** From what is there now, or from any snapshot that is listed. */
        FORK,
        /** A command that was sent before is sent again. */
        RESEND,
        /** Waits for what was asked before. */
        AWAIT,
        DESTROY,
        /** The VM ends, and the node says so. */
        EXIT,
        EXIT_TWICE,
        /** A report of a VM that was there before. */
        OLD_REPORT,
        IDLE,
        NODE_FULL,
        KEY_REVOKED,
        DEADLINE_PAUSES,
        DEADLINE_SUSPENDS,
        /** The object store is away, or back. */
        BUCKET_AWAY,
        BUCKET_BACK,
        DEADLINE_DESTROYS,
        CUT_FIRST,
        CUT_SECOND,
        HEAL,
        LEASE_LOST,
        LEASE_BACK,
        /** The session's machine is off, and an operator says so. */
        NODE_LOST,
        LATE_CALLS,
        WORKERS_CRASH,
        /** An operator terminates the workflow; it is started again from the row. */
        TERMINATED,
        /** So many Updates that the workflow goes on in a new run. */
        NEW_RUN;

        /** What costs seconds or ends the story. */
        private static final Set<Act> RARE =
                Set.of(DESTROY, DEADLINE_DESTROYS, NODE_LOST, TERMINATED, NEW_RUN);

        private final @Nullable Command command;

        Act() {
            this(null);
        }

        Act(@Nullable Command command) {
            this.command = command;
        }

        static Act random(Random random) {
            Act act = values()[random.nextInt(values().length)];
            return RARE.contains(act) && random.nextInt(3) > 0 ? random(random) : act;
        }
    }

    final World world;
    private final Random random;
    final World.Session session;
    final Client client = new Client(CALL);
    private final Map<OperationId, Command> sent = new LinkedHashMap<>();
    private final List<Fence> reported = new ArrayList<>();
    private final Set<String> off = new HashSet<>();
    private final OperationId create;
    private boolean destroyAsked;
    private boolean endedByServer;
    private int resent;

    SessionLife(long seed) {
        world = new World(Faults.seeded(seed, FAULTS), seed, seed % 4 != 0);
        random = new Random(seed);
        PolicyAction idle = seed % 3 == 0 ? PolicyAction.SUSPEND : PolicyAction.PAUSE;
        session = world.new Session().crashing().idle(idle);
        create = session.request(null);
    }

    void live(List<Act> acts) throws Exception {
        LifeChecks checks = new LifeChecks(this);
        var _ = client.begin(() -> session.create(create));
        for (Act act : acts) {
            act(act);
            checks.always();
        }
        calm();
        checks.nothingChangesBy(this::lateCallsArrive);
        checks.consistent();
        checks.goesOn();
        destroy();
        repairUntil("it is destroyed", () -> state() == SessionState.DESTROYED);
        checks.nothingIsLeft();
        checks.children();
    }

    @Override
    public void close() {
        client.close();
        world.close();
    }

    // ------------------------------------------------------------ acts

    private void act(Act act) {
        Command command = act.command;
        if (command != null) {
            ask(command);
            return;
        }
        switch (act) {
            case ROLLBACK -> rollback(false);
            case ROLLBACK_WITH_LOSS -> rollback(true);
            case FORK -> fork();
            case RESEND -> resend();
            case AWAIT -> world.awaitThat(session::quiet);
            case DESTROY -> destroy();
            case EXIT -> exits(1);
            case EXIT_TWICE -> exits(2);
            case OLD_REPORT -> reported.stream().findFirst().ifPresent(this::report);
            case IDLE -> idle();
            case NODE_FULL -> nodeFull();
            case KEY_REVOKED -> keyRevoked();
            case DEADLINE_PAUSES -> deadline(PolicyAction.PAUSE);
            case DEADLINE_SUSPENDS -> deadline(PolicyAction.SUSPEND);
            case BUCKET_AWAY -> world.bucket.reachable(false);
            case BUCKET_BACK -> world.bucket.reachable(true);
            case DEADLINE_DESTROYS -> deadline(PolicyAction.DESTROY);
            case CUT_FIRST -> world.node(World.FIRST).reachable(false);
            case CUT_SECOND -> world.node(World.SECOND).reachable(false);
            case HEAL -> heal();
            case LEASE_LOST -> change(session.row().node, NodeChange.Kind.LEASE_LOST);
            case LEASE_BACK -> change(session.row().node, NodeChange.Kind.BACK);
            case NODE_LOST -> nodeLost();
            case LATE_CALLS -> lateCallsArrive();
            case WORKERS_CRASH -> world.crashWorkers(1 + random.nextInt(2));
            case TERMINATED -> terminated();
            case NEW_RUN -> newRun();
            default -> throw new AssertionError("no way to do " + act);
        }
    }

    /** The operation, or null where the tombstone forbids it. */
    @Nullable OperationId ask(Command command) {
        OperationId operation = world.newOperation();
        if (!world.store.request(session.id, operation, command)) {
            return null;
        }
        sent.put(operation, command);
        client.tell(() -> session.send(operation, command));
        return operation;
    }

    private void rollback(boolean acceptLoss) {
        List<SnapshotRef> listed = List.copyOf(session.row().snapshots);
        OperationId operation = world.newOperation();
        if (!listed.isEmpty() && world.store.request(session.id, operation, Command.ROLLBACK)) {
            FakeStore.Operation row = world.store.operation(operation);
            row.snapshot = listed.get(random.nextInt(listed.size())).id();
            row.acceptLoss = acceptLoss;
            sent.put(operation, Command.ROLLBACK);
            client.tell(() -> session.send(operation, Command.ROLLBACK));
        }
    }

    private void fork() {
        OperationId operation = world.newOperation();
        if (world.store.request(session.id, operation, Command.FORK)) {
            List<SnapshotRef> listed = List.copyOf(session.row().snapshots);
            boolean named = !listed.isEmpty() && random.nextBoolean();
            SnapshotId snapshot = named ? listed.get(random.nextInt(listed.size())).id() : null;
            Forks.plan(world, operation, 1 + random.nextInt(2), snapshot);
            sent.put(operation, Command.FORK);
            client.tell(() -> session.send(operation, Command.FORK));
        }
    }

    private void resend() {
        List<OperationId> all = List.copyOf(sent.keySet());
        if (!all.isEmpty()) {
            OperationId again = all.get(resent++ % all.size());
            Command command = java.util.Objects.requireNonNull(sent.get(again));
            client.tell(() -> session.send(again, command));
        }
    }

    private void destroy() {
        OperationId operation = world.newOperation();
        if (!destroyAsked && world.store.request(session.id, operation, Command.DESTROY)) {
            destroyAsked = true;
            var _ = client.ask(() -> session.destroy(operation));
        }
    }

    private void exits(int reports) {
        for (FakeNode node : world.nodes()) {
            Fence start = node.exit(session.id);
            if (start != null) {
                for (int i = 0; i < reports; i++) {
                    report(start);
                }
            }
        }
    }

    private void report(Fence start) {
        reported.add(start);
        client.tell(() -> session.report(start));
    }

    private void idle() {
        IdleReport report = new IdleReport(session.row().epoch, 0, null);
        client.tell(() -> session.typed().idle(report));
    }

    private void nodeFull() {
        NodeFullReport report = new NodeFullReport(session.row().epoch);
        client.tell(() -> session.typed().nodeFull(report));
    }

    private void keyRevoked() {
        KeyRevokedReport report = new KeyRevokedReport(session.row().epoch);
        client.tell(() -> session.typed().keyRevoked(report));
    }

    private void deadline(PolicyAction action) {
        var due = new DeadlinePolicy(world.server.currentTimeMillis() + DEADLINE_MILLIS, action);
        session.row().deadline = due;
        client.tell(() -> session.typed().deadlineChanged(due));
    }

    private void change(@Nullable String node, NodeChange.Kind kind) {
        if (node != null) {
            client.tell(() -> session.typed().nodeChanged(new NodeChange(node, kind)));
        }
    }

    private void nodeLost() {
        String node = session.row().node;
        if (node != null) {
            off.add(node);
            world.node(node).off();
            world.store.leaseOver(node);
            change(node, NodeChange.Kind.DECLARED_LOST);
        }
    }

    private void heal() {
        world.nodes().stream().filter(n -> !off.contains(n.id())).forEach(n -> n.reachable(true));
    }

    private void lateCallsArrive() {
        world.nodes().forEach(FakeNode::deliverLate);
    }

    private void terminated() {
        if (session.row().number > 0 && state() != SessionState.DESTROYED) {
            client.tell(session::terminateAndRevive);
        }
    }

    private void newRun() {
        for (int i = 0; i <= SessionWorkflowImpl.UPDATES_MAX; i++) {
            boolean settled = state() == SessionState.RUNNING && session.quiet();
            OperationId operation = settled ? world.newOperation() : null;
            if (operation == null
                    || !world.store.request(session.id, operation, Command.RESUME)
                    || client.ask(() -> session.submit(operation, Command.RESUME, null)) == null) {
                return; // not now: only where it changes nothing
            }
        }
    }

    // ------------------------------------------------------------ what the platform does by itself

    SessionState state() {
        return session.row().state;
    }

    boolean isOff(String node) {
        return off.contains(node);
    }

    /** The workflow of a session that is over was terminated for the test server's sake. */
    boolean endedByServer() {
        return endedByServer;
    }

    boolean destroyAsked() {
        return destroyAsked;
    }

    /** What failed is over; what the platform does by itself by and by happens now. */
    void calm() {
        world.faults.calm();
        world.bucket.reachable(true);
        heal();
        world.server.sleep(Duration.ofMillis(DEADLINE_MILLIS)); // what is due comes
        off.forEach(node -> change(node, NodeChange.Kind.DECLARED_LOST));
        change(session.row().node, NodeChange.Kind.BACK);
        repairUntil("the creation ends", () -> world.store.operation(create).state.ended());
        var _ = client.ask(() -> session.reachThrough(create));
        repairUntil("it is quiet", this::staysQuiet);
    }

    /** A policy may have begun what its row does not show yet. */
    private boolean staysQuiet() {
        long number = session.row().number;
        return isQuiet()
                && !world.awaitThat(() -> session.row().number > number, SETTLES)
                && isQuiet();
    }

    private boolean isQuiet() {
        return session.quiet() && !reportsWhatIsOver() && theWorkflowKnows();
    }

    /** Bounded: each round waits a little, and there are not many. */
    void repairUntil(String what, java.util.function.BooleanSupplier reached) {
        for (int round = 0; round < 20; round++) {
            repair();
            if (reached.getAsBoolean()
                    || world.awaitThat(reached::getAsBoolean, Duration.ofSeconds(1))) {
                return;
            }
        }
        throw new AssertionError("it never comes that " + what + "; " + describe());
    }

    /** As the reconciler: what was not taken is sent again, what has no workflow gets one. */
    private void repair() {
        sendRequested(session);
        children().forEach(this::sendRequested);
        boolean alive = session.row().number > 0 && state() != SessionState.DESTROYED;
        if (alive && Boolean.TRUE.equals(client.ask(session::closed))) {
            client.tell(session::revive);
        }
        if (world.serverIsStuck()) { // as an operator would
            client.tell(alive ? session::terminateAndRevive : session::terminate);
            endedByServer |= !alive;
        }
        String node = session.row().node;
        if (node != null && isOff(node)) {
            change(node, NodeChange.Kind.DECLARED_LOST);
        }
    }

    private void sendRequested(World.Session to) {
        for (Map.Entry<OperationId, @Nullable Command> row : world.store.requested(to.id)) {
            OperationId operation = row.getKey();
            Command command = row.getValue();
            if (command == null) {
                var _ = client.begin(() -> to.create(operation));
            } else if (command == Command.DESTROY) {
                var _ = client.begin(() -> to.destroy(operation));
            } else {
                var _ =
                        client.begin(() -> {
                            to.send(operation, command);
                            return true;
                        });
            }
        }
    }

    /** What its forks made. */
    List<World.Session> children() {
        return Forks.of(world, session).stream()
                .flatMap(fork -> Forks.children(world, fork).stream())
                .map(World.Session::crashing)
                .toList();
    }

    /** What the row has was told to the workflow too. */
    private boolean theWorkflowKnows() {
        FakeStore.Session row = session.row();
        if (row.state == SessionState.DESTROYED) {
            return true;
        }
        SessionRecord record = client.ask(session::record);
        return record != null
                && record.inFlight() == null
                && record.deadline() == null
                && record.state() == row.state;
    }

    /** A VM that ended and that the row still has is reported until it is taken note of. */
    private boolean reportsWhatIsOver() {
        FakeStore.Session row = session.row();
        Fence vm = row.vm;
        if (row.state != SessionState.RUNNING || vm == null) {
            return false;
        }
        boolean runs = running().stream().anyMatch(v -> v.start().equals(vm));
        if (!runs) {
            report(vm);
        }
        return !runs;
    }

    List<FakeNode.Vm> running() {
        return Forks.vms(world, session);
    }

    /** What a person needs to see why it does not go on. */
    String describe() {
        FakeStore.Session row = session.row();
        return "row "
                + row.state
                + " epoch "
                + row.epoch
                + " number "
                + row.number
                + " on "
                + row.node
                + ", open "
                + session.open()
                + ", off "
                + off
                + ", owed "
                + row.owed
                + ", nodes "
                + row.nodes
                + ", endings "
                + row.endings
                + ", calls "
                + world.faults.calls().stream()
                        .skip(Math.max(0, world.faults.calls().size() - 24L))
                        .map(c -> c.at() + ":" + c.step() + ":" + c.fault())
                        .toList()
                + ", history "
                + events().stream().skip(Math.max(0, events().size() - 12L)).toList();
    }

    private List<String> events() {
        WorkflowExecutionHistory history = client.ask(session::history);
        return history == null
                ? List.of()
                : history.getEvents().stream()
                        .map(e -> e.getEventType().toString().replace("EVENT_TYPE_", ""))
                        .toList();
    }
}
