package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.OperationState;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import dev.space.testkit.FakeNode;
import dev.space.testkit.FakeStore;
import dev.space.testkit.Faults.Fault;
import dev.space.testkit.Held;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Forks of and rollbacks to what the object store has, on any node. */
final class SessionStoredTest {

    private final World world = World.calm();
    private final World.Session source = world.new Session().crashing();

    @AfterEach
    void close() {
        world.bucket.reachable(true);
        world.store.capacity(List.of(World.FIRST, World.SECOND));
        for (FakeStore.Operation fork : Forks.of(world, source)) {
            Forks.sendCreations(world, fork);
            Forks.eachIsWholeOrGone(world, fork);
            Forks.destroyChildren(world, fork);
        }
        if (source.row().state != SessionState.DESTROYED) {
            source.destroy();
            source.awaitState(SessionState.DESTROYED);
        }
        world.nothingIsLeftOf(source);
        world.close();
    }

    private SnapshotId suspended() {
        source.create();
        assertThat(source.run(Command.SUSPEND)).isEqualTo(OperationState.DONE);
        return source.row().snapshots.getLast().id();
    }

    private void only(String node) {
        world.store.capacity(List.of(node));
    }

    private List<World.Session> fork(int children, @Nullable SnapshotId snapshot) {
        OperationId operation = Forks.run(world, source, children, snapshot);
        assertThat(world.store.operation(operation).state).isEqualTo(OperationState.DONE);
        Forks.sendCreations(world, operation);
        return Forks.children(world, world.store.operation(operation));
    }

    private OperationState rollback(SnapshotId target) {
        return world.store.operation(Rollbacks.run(world, source, target, false)).state;
    }

    private FakeNode.Vm vm() {
        return Forks.vms(world, source).getFirst();
    }

    // ------------------------------------------------------------ fork

    @Test
    void childrenOfASuspendedSessionStartFromTheCopyOnItsNode() {
        SnapshotId stored = suspended();
        for (World.Session child : fork(3, null)) {
            assertThat(child.row().node).isEqualTo(World.FIRST);
            assertThat(Forks.vms(world, child).getFirst().source()).isEqualTo(stored);
        }
        assertThat(world.faults.count("download")).as("nothing had to be sent").isZero();
        assertThat(source.row().state).isEqualTo(SessionState.SUSPENDED);
        assertThat(source.row().node).isNull();
        assertThat(source.run(Command.RESTORE)).isEqualTo(OperationState.DONE);
    }

    @Test
    void withoutThatNodeTheyStartOnAnotherFromTheObjectStore() {
        SnapshotId stored = suspended();
        only(World.SECOND);
        for (World.Session child : fork(2, null)) {
            assertThat(child.row().node).isEqualTo(World.SECOND);
            assertThat(Forks.vms(world, child).getFirst().source()).isEqualTo(stored);
            assertThat(world.node(World.SECOND).snapshots(child.id))
                    .as("what it was fetched for is done")
                    .isEmpty();
            assertThat(child.record().newest()).as("it has no snapshot of its own").isNull();
        }
    }

    @Test
    void whereTheCopyIsGoneItIsFetched() {
        SnapshotId stored = suspended();
        removeCopy(stored);
        World.Session child = fork(1, stored).getFirst();
        assertThat(child.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(world.faults.count("download")).isEqualTo(1);
    }

    private void removeCopy(SnapshotId snapshot) {
        world.node(World.FIRST).forget(source.id, snapshot);
    }

    @Test
    void aFetchedCopyThatCannotBeRemovedHarmsNobody() {
        suspended();
        only(World.SECOND);
        world.faults.script(
                "delete snapshot", Fault.REFUSED, Fault.REFUSED, Fault.REFUSED, Fault.REFUSED);
        assertThat(fork(1, null).getFirst().row().state).isEqualTo(SessionState.RUNNING);
    }

    @Test
    void withoutTheObjectStoreOnlyTheChildFails() {
        suspended();
        only(World.SECOND);
        world.bucket.reachable(false);
        World.Session child = fork(1, null).getFirst();
        assertThat(child.row().state).isEqualTo(SessionState.DESTROYED);
        assertThat(source.row().state).isEqualTo(SessionState.SUSPENDED);
    }

    @Test
    void aRunningSourceIsForkedFromWhatOnlyTheObjectStoreHas() {
        SnapshotId stored = suspended();
        only(World.SECOND);
        source.run(Command.RESTORE);
        source.run(Command.CHECKPOINT);
        world.node(World.SECOND).forget(source.id, stored);
        World.Session child = fork(1, stored).getFirst();
        assertThat(Forks.vms(world, child).getFirst().source()).isEqualTo(stored);
        assertThat(source.row().state).isEqualTo(SessionState.RUNNING);
    }

    @Test
    void aSnapshotThatStayedOnTheOldNodeIsForkedThere() {
        source.create();
        source.run(Command.CHECKPOINT);
        final SnapshotId old = source.row().snapshots.getLast().id();
        source.run(Command.SUSPEND);
        only(World.SECOND);
        source.run(Command.RESTORE);
        world.store.capacity(List.of(World.SECOND, World.FIRST));
        World.Session child = fork(1, old).getFirst();
        assertThat(child.row().node).isEqualTo(World.FIRST);
        assertThat(source.row().node).isEqualTo(World.SECOND);
    }

    @Test
    void aCopyThatGoesWhileItIsRestoredIsFetchedAgain() throws InterruptedException {
        SnapshotId stored = suspended();
        only(World.FIRST);
        Held start = world.node(World.FIRST).hold("start", Held.Point.BEFORE_EFFECT);
        OperationId restore = source.request(Command.RESTORE);
        source.submit(restore, Command.RESTORE, null);
        assertThat(start.awaitArrival(World.PATIENCE)).isTrue();
        removeCopy(stored);
        start.release();
        assertThat(source.await(restore)).isEqualTo(OperationState.DONE);
        assertThat(source.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(vm().source()).isEqualTo(stored);
    }

    // ------------------------------------------------------------ rollback

    @Test
    void aSuspendedSessionGoesBackOnAnyNode() {
        SnapshotId first = suspended();
        source.run(Command.RESTORE);
        source.run(Command.SUSPEND);
        only(World.SECOND);

        assertThat(rollback(first)).isEqualTo(OperationState.DONE);
        assertThat(source.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(source.row().node).isEqualTo(World.SECOND);
        assertThat(vm().source()).isEqualTo(first);
        assertThat(Objects.requireNonNull(source.record().newest()).node()).isEqualTo(World.SECOND);
        assertThat(Objects.requireNonNull(source.record().durable()).snapshot().id())
                .isEqualTo(first);
        source.crash();
        source.awaitRecovered();
        assertThat(vm().source()).isEqualTo(first);
    }

    @Test
    void itGoesBackToWhatIsOnOneNodeOnlyThere() {
        source.create();
        source.run(Command.CHECKPOINT);
        SnapshotId local = source.row().snapshots.getLast().id();
        source.run(Command.SUSPEND);
        assertThat(rollback(local)).isEqualTo(OperationState.DONE);
        assertThat(source.row().node).isEqualTo(World.FIRST);
        assertThat(vm().source()).isEqualTo(local);
        assertThat(source.record().durable()).as("stored of a past that was left").isNull();
    }

    @Test
    void whereThatNodeIsAwayItStaysSuspended() {
        source.create();
        source.run(Command.CHECKPOINT);
        SnapshotId local = source.row().snapshots.getLast().id();
        source.run(Command.SUSPEND);
        only(World.SECOND);
        OperationId operation = Rollbacks.run(world, source, local, false);
        assertThat(world.store.operation(operation).error).isEqualTo(ErrorCode.NO_CAPACITY);
        assertThat(source.row().state).isEqualTo(SessionState.SUSPENDED);
        assertThat(source.row().node).isNull();
        assertThat(source.run(Command.RESTORE)).isEqualTo(OperationState.DONE);
    }

    @Test
    void withoutTheObjectStoreItStaysSuspended() {
        SnapshotId stored = suspended();
        only(World.SECOND);
        world.bucket.reachable(false);
        assertThat(rollback(stored)).isEqualTo(OperationState.FAILED);
        assertThat(source.row().state).isEqualTo(SessionState.SUSPENDED);
        assertThat(Forks.vms(world, source)).isEmpty();
    }

    @Test
    void aRunningSessionGoesBackToWhatOnlyTheObjectStoreHas() {
        SnapshotId stored = suspended();
        source.run(Command.RESTORE);
        removeCopy(stored);
        assertThat(rollback(stored)).isEqualTo(OperationState.DONE);
        assertThat(vm().source()).isEqualTo(stored);
        assertThat(source.row().state).isEqualTo(SessionState.RUNNING);
    }

    @Test
    void aRevivedWorkflowGoesOnWithSuchARollback() {
        SnapshotId first = suspended();
        source.terminateAndRevive();
        only(World.SECOND);
        assertThat(rollback(first)).isEqualTo(OperationState.DONE);
        assertThat(source.row().node).isEqualTo(World.SECOND);
    }
}
