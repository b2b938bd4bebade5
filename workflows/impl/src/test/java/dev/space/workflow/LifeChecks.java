package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.contract.node.ReleaseSession;
import dev.space.contract.node.StepRef;
import dev.space.contract.session.SessionRecord;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.Command;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import dev.space.model.lifecycle.LifecycleTable;
import dev.space.model.lifecycle.OperationRow;
import dev.space.testkit.FakeDurables;
import dev.space.testkit.FakeNode;
import dev.space.testkit.FakeStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What must hold during and after a session's life, whatever happened to it. */
final class LifeChecks {

    private final SessionLife life;
    private final World world;
    private final World.Session session;
    private long epoch;
    private long number;

    LifeChecks(SessionLife life) {
        this.life = life;
        this.world = life.world;
        this.session = life.session;
    }

    /** At any time. */
    void always() {
        onlyOneRuns();
        FakeStore.Session row = session.row();
        assertThat(row.epoch).as("epoch").isGreaterThanOrEqualTo(epoch);
        assertThat(row.number).as("number").isGreaterThanOrEqualTo(number);
        epoch = row.epoch;
        number = row.number;
        everyEndingIsOfTheTable();
        assertThat(life.client.defects()).as("failures of calls").isEmpty();
    }

    /** Seen before and after the other node: one VM that moved is not two. */
    private void onlyOneRuns() {
        List<FakeNode.Vm> before = new ArrayList<>(life.running());
        before.retainAll(life.running());
        assertThat(before).as("VMs that run at once").hasSizeLessThanOrEqualTo(1);
    }

    private void everyEndingIsOfTheTable() {
        SessionState at = SessionState.NEW;
        for (FakeStore.Ending ending : List.copyOf(session.row().endings)) {
            OperationRow row = LifecycleTable.STANDARD.operation(ending.kind());
            SessionState to = ending.outcome() == OperationState.DONE ? row.to() : row.failed();
            assertThat(ending.from()).as("where %s starts", ending).isEqualTo(at);
            if (!isLossOfAStoredSession(ending)) {
                assertThat(row.from()).as("where %s may start", ending).contains(at);
            }
            if (isSuspendThatNeverPaused(ending)) {
                assertThat(ending.to()).isIn(SessionState.RUNNING, SessionState.PAUSED);
            } else if (isRollbackThatGotSomewhere(ending)) {
                assertThat(ending.to()).isIn(SessionState.PAUSED, SessionState.FAILED);
            } else {
                assertThat(ending.to()).as("%s", ending).isEqualTo(to == null ? at : to);
            }
            at = ending.to();
        }
        assertThat(session.row().state).as("state after %s", session.row().endings).isEqualTo(at);
    }

    /** Its safety is published, or the loss of it accepted, and then it cannot start. */
    private static boolean isRollbackThatGotSomewhere(FakeStore.Ending ending) {
        return ending.kind() == OperationKind.ROLLBACK
                && ending.outcome() == OperationState.FAILED
                && ending.from() == SessionState.RUNNING
                && ending.to() != SessionState.RUNNING;
    }

    /** Before its pause is published nothing has changed. */
    private static boolean isSuspendThatNeverPaused(FakeStore.Ending ending) {
        return ending.kind() == OperationKind.SUSPEND
                && ending.outcome() == OperationState.FAILED
                && ending.from() == SessionState.RUNNING;
    }

    /** PAUSED whose node an operator declared lost: a RECOVER that only writes FAILED. */
    private static boolean isLossOfAStoredSession(FakeStore.Ending ending) {
        return ending.kind() == OperationKind.RECOVER
                && ending.from() == SessionState.PAUSED
                && ending.outcome() == OperationState.FAILED;
    }

    /** While nothing is in flight: the row and the nodes are afterwards as before. */
    void nothingChangesBy(Runnable act) {
        String before = everything();
        act.run();
        assertThat(everything()).as("after late attempts").isEqualTo(before);
    }

    private String everything() {
        FakeStore.Session row = session.row();
        Map<String, Object> nodes = new TreeMap<>();
        for (FakeNode node : world.nodes()) {
            nodes.put(
                    node.id(),
                    List.of(String.valueOf(node.vm(session.id)), node.snapshots(session.id)));
        }
        return world.bucket.keys()
                + " "
                + row.state
                + " "
                + row.epoch
                + " "
                + row.number
                + " "
                + row.vm
                + " "
                + nodes;
    }

    /** When it is quiet: the row, the record and the nodes agree. */
    void consistent() {
        always();
        FakeStore.Session row = session.row();
        List<FakeNode.Vm> running = life.running().stream().filter(v -> !isOwed(v, row)).toList();
        if (row.state == SessionState.RUNNING) {
            assertThat(running).as("what runs while RUNNING").hasSize(1);
            assertThat(running.getFirst().start()).as("the VM of the row").isEqualTo(row.vm);
        } else {
            assertThat(running).as("what runs while " + row.state).isEmpty();
        }
        if (life.destroyAsked()) {
            assertThat(row.state).as("after DESTROY").isEqualTo(SessionState.DESTROYED);
        }
        if (row.state != SessionState.DESTROYED) {
            snapshotsAreThere();
            onlyWhatTheRowsNameIsStored();
            recordIs(row);
        }
    }

    private boolean isOwed(FakeNode.Vm vm, FakeStore.Session row) {
        return world.nodes().stream()
                .anyMatch(n -> row.owed.contains(n.id()) && vm.equals(n.vm(session.id)));
    }

    private void recordIs(FakeStore.Session row) {
        SessionRecord record = life.client.ask(session::record);
        assertThat(record).as("the record").isNotNull();
        Objects.requireNonNull(record);
        assertThat(record.state()).as("state of the record").isEqualTo(row.state);
        assertThat(record.epoch()).as("epoch of the record").isEqualTo(row.epoch);
        assertThat(record.vm()).as("VM of the record").isEqualTo(row.vm);
        boolean forgotten = record.node() == null && row.node != null && life.isOff(row.node);
        if (!forgotten) { // a FAILED session's row keeps the name of a lost node
            assertThat(record.node()).as("node of the record").isEqualTo(row.node);
        }
        assertThat(record.inFlight()).as("in flight in the record").isNull();
    }

    private void snapshotsAreThere() {
        for (FakeNode node : world.nodes()) {
            if (life.isOff(node.id())) {
                continue;
            }
            Set<SnapshotId> listed =
                    session.row().snapshots.stream()
                            .filter(s -> s.node().equals(node.id()))
                            .map(SnapshotRef::id)
                            .collect(Collectors.toSet());
            Set<SnapshotId> there =
                    node.snapshots(session.id).stream()
                            .map(s -> s.snapshot())
                            .filter(id -> listed.contains(id) || !isStored(id))
                            .collect(Collectors.toSet());
            assertThat(there).as("snapshots on " + node.id()).isEqualTo(listed);
        }
    }

    /** Of what is stored any node may have a copy. */
    private boolean isStored(SnapshotId id) {
        return session.row().durables.stream()
                .anyMatch(
                        d -> d.state == FakeDurables.State.COMPLETE && d.snapshot.id().equals(id));
    }

    private void onlyWhatTheRowsNameIsStored() {
        world.store.collect(world.bucket);
        long complete =
                session.row().durables.stream()
                        .filter(d -> d.state == FakeDurables.State.COMPLETE)
                        .count();
        long stored =
                world.bucket.keys().stream()
                        .filter(key -> key.startsWith(session.id.value()))
                        .count();
        assertThat(stored).as("what is stored").isEqualTo(complete);
        boolean stands = session.row().durables.stream().anyMatch(d -> d.stored != null);
        if (session.row().state == SessionState.SUSPENDED) {
            assertThat(stands).as("a suspended session is stored").isTrue();
            assertThat(session.row().node).as("node of a suspended session").isNull();
        }
    }

    /** Every state has a way on; without faults it leads there. */
    void goesOn() {
        SessionState state = life.state();
        switch (state) {
            case RUNNING -> leadsTo(Command.PAUSE, SessionState.PAUSED);
            case PAUSED -> leadsTo(Command.RESUME, SessionState.RUNNING);
            case FAILED -> {
                SessionRecord record = life.client.ask(session::record);
                boolean here =
                        record != null
                                && record.node() != null
                                && (record.newest() != null || record.preserved() != null);
                boolean stored = record != null && record.durable() != null && aNodeIsOn();
                boolean left = here || stored;
                leadsTo(Command.RECOVER, left ? SessionState.RUNNING : SessionState.FAILED);
            }
            case SUSPENDED ->
                    leadsTo(
                            Command.RESTORE,
                            aNodeIsOn() ? SessionState.RUNNING : SessionState.SUSPENDED);
            case DESTROYED -> {}
            default -> throw new AssertionError("a quiet session is " + state);
        }
        life.calm();
        consistent();
    }

    private boolean aNodeIsOn() {
        return world.nodes().stream().anyMatch(n -> !life.isOff(n.id()));
    }

    private void leadsTo(Command command, SessionState to) {
        OperationId operation = life.ask(command);
        if (operation == null) { // a deadline destroys it
            assertThat(session.row().tombstone).isNotNull();
            return;
        }
        life.repairUntil(command + " ends", () -> world.store.operation(operation).state.ended());
        boolean gone = session.row().tombstone != null;
        if (!gone) {
            assertThat(life.state()).as("after %s: %s", command, life.describe()).isEqualTo(to);
        }
    }

    /** After DESTROY; what could not be reached is paid for as the reconciler does. */
    void nothingIsLeft() throws Exception {
        everyEndingIsOfTheTable();
        payWhatIsOwed();
        for (FakeNode node : world.nodes()) {
            node.deliverLate();
        }
        world.nothingIsLeftOf(session);
        assertThat(life.running()).as("what runs after DESTROY").isEmpty();
        FakeStore.Session row = session.row();
        OperationId late = world.newOperation();
        assertThat(world.store.request(session.id, late, Command.RESUME)).isFalse();
        life.repairUntil(
                "the workflow ends", () -> isClosed() && (life.endedByServer() || ended() != null));
        if (life.endedByServer()) {
            return;
        }
        SessionRecord replayed = Objects.requireNonNull(ended()); // of a run that is in no cache
        assertThat(replayed.state()).isEqualTo(SessionState.DESTROYED);
        assertThat(replayed.epoch()).as("epoch when replayed").isEqualTo(row.epoch);
        var history = life.client.ask(session::history);
        assertThat(history).as("history").isNotNull();
        SessionReplayTest.replay(Objects.requireNonNull(history));
    }

    /** The reconciler asks the nodes until they have removed what they could not before. */
    private void payWhatIsOwed() {
        Fence last = new Fence(session.row().epoch, session.row().number, Long.MAX_VALUE);
        StepRef ref = new StepRef(session.id, world.newOperation(), last);
        for (FakeNode node : world.nodes()) {
            if (session.row().owed.remove(node.id())) {
                boolean reachable = node.reachable();
                node.reachable(true);
                node.releaseSession(new ReleaseSession(ref));
                node.reachable(reachable);
            }
        }
    }

    /** Forks made all their children or none, and those have their own lives, whatever it did. */
    void children() {
        List<World.Session> children = life.children();
        life.repairUntil("children are made", () -> children.stream().allMatch(c -> c.quiet()));
        boolean allOn = world.nodes().stream().noneMatch(n -> life.isOff(n.id()));
        if (allOn) {
            Forks.of(world, session).forEach(fork -> Forks.eachIsWholeOrGone(world, fork));
        }
        for (World.Session child : children) {
            OperationId destroy = world.newOperation();
            if (world.store.request(child.id, destroy, Command.DESTROY)) {
                life.repairUntil(
                        "a child is destroyed", () -> child.row().state == SessionState.DESTROYED);
            }
            world.nothingIsLeftOf(child);
        }
    }

    private @Nullable SessionRecord ended() {
        return isClosed() ? life.client.ask(session::record) : null;
    }

    private boolean isClosed() {
        return Boolean.TRUE.equals(life.client.ask(session::closed));
    }
}
