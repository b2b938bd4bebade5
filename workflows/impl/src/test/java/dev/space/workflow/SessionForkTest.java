package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.contract.session.RecoveryPolicy;
import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.Ids;
import dev.space.model.OperationId;
import dev.space.model.OperationState;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import dev.space.testkit.FakeNode;
import dev.space.testkit.FakeStore;
import dev.space.testkit.Faults.Fault;
import dev.space.testkit.Held;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** New sessions that continue from a snapshot of this one, which goes on as if nothing was. */
final class SessionForkTest {

    private final World world = World.calm();
    private final World.Session source = world.new Session().crashing();

    @AfterEach
    void close() {
        destroySource();
        for (FakeStore.Operation fork : Forks.of(world, source)) {
            Forks.sendCreations(world, fork);
            Forks.eachIsWholeOrGone(world, fork); // whatever became of the source
            Forks.destroyChildren(world, fork);
        }
        world.close();
    }

    private void destroySource() {
        if (source.row().state != SessionState.DESTROYED) {
            source.destroy();
            source.awaitState(SessionState.DESTROYED);
        }
        world.nothingIsLeftOf(source);
    }

    private SnapshotId checkpoint() {
        assertThat(source.run(Command.CHECKPOINT)).isEqualTo(OperationState.DONE);
        return source.row().snapshots.getLast().id();
    }

    private OperationId fork(int children, @Nullable SnapshotId snapshot) {
        OperationId operation = Forks.run(world, source, children, snapshot);
        Forks.sendCreations(world, operation);
        return operation;
    }

    private List<World.Session> children(OperationId fork) {
        return Forks.children(world, world.store.operation(fork));
    }

    private List<@Nullable SnapshotId> startedFrom(OperationId fork) {
        return children(fork).stream()
                .<@Nullable SnapshotId>map(c -> Forks.vms(world, c).getFirst().source())
                .toList();
    }

    private ErrorCode errorOf(World.Session child) {
        ErrorCode error = world.store.operations(child.id).getFirst().error;
        return error == null ? ErrorCode.INTERNAL : error;
    }

    @Test
    void eachChildRunsFromTheCheckpointAndTheSourceGoesOn() {
        source.create();
        OperationId fork = fork(3, null);

        assertThat(world.store.operation(fork).state).isEqualTo(OperationState.DONE);
        assertThat(source.row().snapshots).hasSize(1);
        SnapshotId taken = source.row().snapshots.getFirst().id();
        assertThat(startedFrom(fork)).containsExactly(taken, taken, taken);
        assertThat(source.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(source.row().epoch).isEqualTo(1);
        assertThat(source.row().vm).isEqualTo(source.record().vm());
        assertThat(world.node(World.FIRST).running()).hasSize(4);
    }

    @Test
    void aNamedSnapshotIsTakenAndNoOtherMade() {
        source.create();
        SnapshotId first = checkpoint();
        checkpoint();

        assertThat(startedFrom(fork(1, first))).containsExactly(first);
        assertThat(source.row().snapshots).hasSize(2);
        assertThat(source.record().newest()).isEqualTo(source.row().snapshots.getLast());
    }

    @Test
    void aPausedSourceStaysPausedAndIsResumedAsItWas() {
        source.create();
        SnapshotId first = checkpoint();
        source.run(Command.PAUSE);
        SnapshotId paused = source.row().snapshots.getLast().id();

        assertThat(startedFrom(fork(2, null))).containsExactly(paused, paused);
        assertThat(startedFrom(fork(1, first))).containsExactly(first);
        assertThat(source.row().state).isEqualTo(SessionState.PAUSED);
        assertThat(source.run(Command.RESUME)).isEqualTo(OperationState.DONE);
        FakeNode.Vm resumed = Forks.vms(world, source).getFirst();
        assertThat(resumed.source()).isEqualTo(paused);
    }

    @Test
    void ofAFailedOneTheDeadDiskIsEnough() {
        source.recovery(new RecoveryPolicy(0, 1)).create();
        source.crash();
        source.awaitState(SessionState.FAILED);
        SnapshotId disk = source.row().snapshots.getFirst().id();

        assertThat(startedFrom(fork(1, null))).containsExactly(disk);
        assertThat(source.row().state).isEqualTo(SessionState.FAILED);
    }

    @Test
    void anUnknownSnapshotIsRefusedBeforeAnything() {
        source.create();
        SnapshotId unknown =
                new SnapshotId(Ids.text(SnapshotId.PREFIX, new byte[Ids.RANDOM_BYTES]));
        OperationId fork = Forks.request(world, source, 2, unknown);

        assertThat(source.submit(fork, Command.FORK, null).error())
                .isEqualTo(ErrorCode.SNAPSHOT_NOT_FOUND);
        assertThat(world.store.operation(fork).state).isEqualTo(OperationState.REFUSED);
        assertThat(children(fork)).isEmpty();
        assertThat(world.faults.count("checkpoint")).isZero();
    }

    @Test
    void aCheckpointThatFailsMakesNoChildAndLeavesTheSourceRunning() {
        source.create();
        world.faults.script("checkpoint", Fault.REFUSED);
        OperationId fork = fork(2, null);

        assertThat(world.store.operation(fork).state).isEqualTo(OperationState.FAILED);
        assertThat(children(fork)).isEmpty();
        assertThat(source.row().snapshots).isEmpty();
        assertThat(source.row().state).isEqualTo(SessionState.RUNNING);
    }

    @Test
    void aVmThatEndsBeforeTheCheckpointIsRecovered() throws InterruptedException {
        source.create();
        Held held = world.node(World.FIRST).hold("checkpoint", Held.Point.BEFORE_EFFECT);
        OperationId fork = Forks.request(world, source, 2, null);
        source.send(fork, Command.FORK);
        assertThat(held.awaitArrival(World.PATIENCE)).isTrue();
        source.crash();
        held.release();

        assertThat(source.await(fork)).isEqualTo(OperationState.FAILED);
        source.awaitRecovered();
        source.awaitState(SessionState.RUNNING);
        assertThat(children(fork)).isEmpty();
    }

    @Test
    void oneInFlightIsCarriedOnWithTheSameCheckpoint() throws InterruptedException {
        source.create();
        Held held = world.node(World.FIRST).hold("checkpoint", Held.Point.AFTER_EFFECT);
        OperationId fork = Forks.request(world, source, 2, null);
        source.send(fork, Command.FORK);
        assertThat(held.awaitArrival(World.PATIENCE)).isTrue();
        source.terminateAndRevive();
        held.release();

        assertThat(source.await(fork)).isEqualTo(OperationState.DONE);
        assertThat(source.row().snapshots).hasSize(1);
        assertThat(children(fork)).hasSize(2);
    }

    @Test
    void aDestroyThatOvertakesItMakesNoChild() throws InterruptedException {
        source.create();
        Held held = world.node(World.FIRST).hold("checkpoint", Held.Point.BEFORE_EFFECT);
        OperationId fork = Forks.request(world, source, 2, null);
        source.send(fork, Command.FORK);
        assertThat(held.awaitArrival(World.PATIENCE)).isTrue();
        source.destroy();
        held.release();
        source.awaitState(SessionState.DESTROYED);

        assertThat(world.store.operation(fork).state).isEqualTo(OperationState.SUPERSEDED);
        assertThat(children(fork)).isEmpty();
    }

    @Test
    void childrenOutliveTheSource() {
        source.create();
        OperationId fork = fork(2, null);
        destroySource();

        for (World.Session child : children(fork)) {
            assertThat(child.run(Command.CHECKPOINT)).isEqualTo(OperationState.DONE);
            assertThat(child.run(Command.PAUSE)).isEqualTo(OperationState.DONE);
            assertThat(child.run(Command.RESUME)).isEqualTo(OperationState.DONE);
        }
        assertThat(world.node(World.FIRST).running()).hasSize(2);
    }

    @Test
    void aChildWhoseSourceIsGoneBeforeItStartsSaysSo() {
        source.create();
        OperationId fork = Forks.run(world, source, 2, null);
        destroySource();
        Forks.sendCreations(world, fork);

        for (World.Session child : children(fork)) {
            assertThat(child.row().state).isEqualTo(SessionState.DESTROYED);
            assertThat(errorOf(child)).isEqualTo(ErrorCode.SNAPSHOT_NOT_FOUND);
        }
        assertThat(world.node(World.FIRST).running()).isEmpty();
    }

    @Test
    void aSourceThatIsDestroyedWhileAChildStartsHurtsNone() throws InterruptedException {
        source.create();
        OperationId fork = Forks.run(world, source, 2, null);
        Held held = world.node(World.FIRST).hold("start", Held.Point.AFTER_EFFECT);
        Thread sending = Thread.startVirtualThread(() -> Forks.sendCreations(world, fork));
        assertThat(held.awaitArrival(World.PATIENCE)).isTrue();
        destroySource();
        held.release();
        sending.join(World.PATIENCE);

        assertThat(children(fork))
                .extracting(child -> child.row().state)
                .containsExactly(SessionState.RUNNING, SessionState.DESTROYED);
    }

    @Test
    void aChildDoesNotGoToANodeThatHasNotTheSnapshot() {
        source.create();
        OperationId fork = Forks.run(world, source, 1, null);
        world.store.capacity(List.of(World.SECOND));
        Forks.sendCreations(world, fork);

        World.Session child = children(fork).getFirst();
        assertThat(errorOf(child)).isEqualTo(ErrorCode.NO_CAPACITY);
        assertThat(child.row().nodes).isEmpty();
    }

    @Test
    void norWhenItsNodeRefusesIt() {
        source.create();
        OperationId fork = Forks.run(world, source, 1, null);
        Fault[] refused = new Fault[8];
        Arrays.fill(refused, Fault.REFUSED);
        world.faults.script("start", refused);
        Forks.sendCreations(world, fork);

        World.Session child = children(fork).getFirst();
        assertThat(child.row().state).isEqualTo(SessionState.DESTROYED);
        assertThat(child.row().nodes).containsExactly(World.FIRST);
        assertThat(source.row().state).isEqualTo(SessionState.RUNNING);
        world.faults.calm();
    }

    @Test
    void aChildWhoseWorkflowIsRevivedStartsFromTheSameSnapshot() throws InterruptedException {
        source.create();
        OperationId fork = Forks.run(world, source, 1, null);
        World.Session child = children(fork).getFirst();
        Held held = world.node(World.FIRST).hold("start", Held.Point.BEFORE_EFFECT);
        Thread sending = Thread.startVirtualThread(() -> Forks.sendQuietly(world, fork));
        assertThat(held.awaitArrival(World.PATIENCE)).isTrue();
        child.terminateAndRevive();
        held.release();
        child.awaitState(SessionState.RUNNING);
        sending.join(World.PATIENCE);

        SnapshotId taken = source.row().snapshots.getFirst().id();
        assertThat(startedFrom(fork)).containsExactly(taken);
    }

    @Test
    void aChildThatCrashesComesBackByItself() {
        source.create();
        OperationId fork = fork(1, null);
        World.Session child = children(fork).getFirst();
        child.crash();
        child.awaitRecovered();

        child.awaitState(SessionState.RUNNING);
        assertThat(child.row().epoch).isEqualTo(2);
    }

    @Test
    void aChildCanBeForkedItself() {
        source.create();
        OperationId fork = fork(1, null);
        World.Session child = children(fork).getFirst();
        OperationId second = Forks.run(world, child, 2, null);
        Forks.sendCreations(world, second);

        SnapshotId ofChild = child.row().snapshots.getFirst().id();
        assertThat(startedFrom(second)).containsExactly(ofChild, ofChild);
        Forks.destroyChildren(world, world.store.operation(second));
    }
}
