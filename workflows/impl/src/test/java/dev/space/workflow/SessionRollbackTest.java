package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.contract.session.RecoveryPolicy;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.Ids;
import dev.space.model.OperationId;
import dev.space.model.OperationState;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import dev.space.testkit.FakeNode;
import dev.space.testkit.Faults.Fault;
import dev.space.testkit.Held;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Back to a snapshot, with the present kept so that it can be undone. */
final class SessionRollbackTest {

    private final World world = World.calm();
    private final World.Session session = world.new Session().crashing();

    @AfterEach
    void close() {
        session.destroy();
        session.awaitState(SessionState.DESTROYED);
        world.nothingIsLeftOf(session);
        world.close();
    }

    private SnapshotId checkpoint() {
        assertThat(session.run(Command.CHECKPOINT)).isEqualTo(OperationState.DONE);
        return session.row().snapshots.getLast().id();
    }

    private OperationState rollback(SnapshotId target) {
        return world.store.operation(Rollbacks.run(world, session, target, false)).state;
    }

    private @Nullable SnapshotId startedFrom() {
        FakeNode.Vm vm = world.node(World.FIRST).vm(session.id);
        return Objects.requireNonNull(vm).source();
    }

    @Test
    void itRunsFromTheSnapshotAndKeepsThePresent() {
        session.create();
        SnapshotId first = checkpoint();
        checkpoint();

        assertThat(rollback(first)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(session.row().epoch).isEqualTo(2);
        assertThat(startedFrom()).isEqualTo(first);
        assertThat(session.row().snapshots).hasSize(3);
        assertThat(session.row().snapshots.getLast().epoch()).isEqualTo(1);
    }

    @Test
    void itCanBeRolledBackItself() {
        session.create();
        rollback(checkpoint());
        SnapshotId safety = session.row().snapshots.getLast().id();

        assertThat(rollback(safety)).isEqualTo(OperationState.DONE);
        assertThat(startedFrom()).isEqualTo(safety);
        assertThat(session.row().epoch).isEqualTo(3);
    }

    @Test
    void aRecoveryAfterItDoesNotGoBackToThePastThatWasLeft() {
        session.create();
        SnapshotId first = checkpoint();
        checkpoint();
        rollback(first);
        session.crash();

        session.awaitRecovered();
        assertThat(startedFrom()).isEqualTo(first);
    }

    @Test
    void norDoesOneOfAWorkflowThatWasRevived() {
        session.create();
        SnapshotId first = checkpoint();
        checkpoint();
        rollback(first);
        session.terminateAndRevive();
        session.crash();

        session.awaitRecovered();
        assertThat(startedFrom()).isEqualTo(first);
    }

    @Test
    void aCheckpointAfterItIsNewerThanThePastThatWasLeft() {
        session.create();
        SnapshotId first = checkpoint();
        rollback(first);
        SnapshotId later = checkpoint();
        session.crash();

        session.awaitRecovered();
        assertThat(startedFrom()).isEqualTo(later);
    }

    @Test
    void aPausedSessionStandsOnItsSafety() {
        session.create();
        SnapshotId first = checkpoint();
        session.run(Command.PAUSE);

        assertThat(rollback(first)).isEqualTo(OperationState.DONE);
        assertThat(session.row().snapshots).hasSize(2);
        assertThat(startedFrom()).isEqualTo(first);
    }

    @Test
    void aFailedSessionKeepsItsDeadDisk() {
        session.recovery(new RecoveryPolicy(0, 1)).create();
        SnapshotId first = checkpoint();
        session.crash();
        session.awaitState(SessionState.FAILED);

        assertThat(rollback(first)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(session.row().snapshots).hasSize(2);
    }

    @Test
    void aFailedSessionOfWhichNothingWasKeptNeedsAcceptLoss() {
        session.recovery(new RecoveryPolicy(0, 1)).create();
        SnapshotId first = checkpoint();
        world.faults.script("preserve", Fault.REFUSED);
        session.crash();
        session.awaitState(SessionState.FAILED);
        world.faults.script("preserve", Fault.REFUSED);

        OperationId refused = Rollbacks.run(world, session, first, false);
        assertThat(world.store.operation(refused).error).isEqualTo(ErrorCode.PRECONDITION_FAILED);
        assertThat(session.row().state).isEqualTo(SessionState.FAILED);

        world.faults.script("preserve", Fault.REFUSED);
        OperationId loses = Rollbacks.run(world, session, first, true);
        assertThat(world.store.operation(loses).state).isEqualTo(OperationState.DONE);
    }

    @Test
    void withoutASafetySnapshotNothingHappens() {
        session.create();
        SnapshotId first = checkpoint();
        world.faults.script("pause", Fault.REFUSED);

        assertThat(rollback(first)).isEqualTo(OperationState.FAILED);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(session.row().vm).isEqualTo(session.record().vm());
        assertThat(startedFrom()).isNull();
        assertThat(session.run(Command.CHECKPOINT)).isEqualTo(OperationState.DONE);
    }

    @Test
    void acceptLossGoesOnWithoutOne() {
        session.create();
        SnapshotId first = checkpoint();
        world.faults.script("pause", Fault.REFUSED);

        OperationId loses = Rollbacks.run(world, session, first, true);
        assertThat(world.store.operation(loses).state).isEqualTo(OperationState.DONE);
        assertThat(startedFrom()).isEqualTo(first);
        assertThat(session.row().snapshots).hasSize(1);
    }

    @Test
    void acceptLossThatCannotStartFails() {
        session.create();
        SnapshotId first = checkpoint();
        world.faults.script("pause", Fault.REFUSED);
        refuseStarts();

        OperationId loses = Rollbacks.run(world, session, first, true);
        assertThat(world.store.operation(loses).state).isEqualTo(OperationState.FAILED);
        assertThat(session.row().state).isEqualTo(SessionState.FAILED);
        world.faults.calm();
        assertThat(session.run(Command.RECOVER)).isEqualTo(OperationState.DONE);
    }

    @Test
    void aTargetThatDoesNotStartLeavesItPausedInThePresent() {
        session.create();
        SnapshotId first = checkpoint();
        refuseStarts();

        assertThat(rollback(first)).isEqualTo(OperationState.FAILED);
        assertThat(session.row().state).isEqualTo(SessionState.PAUSED);
        SnapshotId safety = session.row().snapshots.getLast().id();
        world.faults.calm();
        assertThat(session.run(Command.RESUME)).isEqualTo(OperationState.DONE);
        assertThat(startedFrom()).isEqualTo(safety);
    }

    private void refuseStarts() {
        Fault[] refused = new Fault[8];
        java.util.Arrays.fill(refused, Fault.REFUSED);
        world.faults.script("start", refused);
    }

    @Test
    void anUnknownTargetIsRefusedBeforeAnything() {
        session.create();
        SnapshotId unknown =
                new SnapshotId(Ids.text(SnapshotId.PREFIX, new byte[Ids.RANDOM_BYTES]));
        OperationId operation = Rollbacks.request(world, session, unknown, false);

        assertThat(session.submit(operation, Command.ROLLBACK, null).error())
                .isEqualTo(ErrorCode.SNAPSHOT_NOT_FOUND);
        assertThat(world.store.operation(operation).state).isEqualTo(OperationState.REFUSED);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(world.faults.count("pause")).isZero();
        assertThat(session.run(Command.PAUSE)).isEqualTo(OperationState.DONE);
    }

    @Test
    void aVmThatEndsBeforeItsSafetyIsRecovered() throws InterruptedException {
        session.create();
        SnapshotId first = checkpoint();
        Held held = world.node(World.FIRST).hold("pause", Held.Point.BEFORE_EFFECT);
        OperationId operation = Rollbacks.request(world, session, first, false);
        session.send(operation, Command.ROLLBACK);
        assertThat(held.awaitArrival(World.PATIENCE)).isTrue();
        session.crash();
        held.release();

        assertThat(session.await(operation)).isEqualTo(OperationState.FAILED);
        session.awaitRecovered();
        session.awaitState(SessionState.RUNNING);
    }

    @Test
    void oneInFlightIsCarriedOnToTheSameSnapshot() throws InterruptedException {
        session.create();
        SnapshotId first = checkpoint();
        checkpoint();
        Held held = world.node(World.FIRST).hold("start", Held.Point.AFTER_EFFECT);
        OperationId operation = Rollbacks.request(world, session, first, false);
        session.send(operation, Command.ROLLBACK);
        assertThat(held.awaitArrival(World.PATIENCE)).isTrue();
        session.terminateAndRevive();
        held.release();

        assertThat(session.await(operation)).isEqualTo(OperationState.DONE);
        assertThat(startedFrom()).isEqualTo(first);
        assertThat(session.row().snapshots)
                .extracting(SnapshotRef::epoch)
                .isEqualTo(List.of(1L, 1L, 1L));
        assertThat(world.node(World.FIRST).running()).hasSize(1);
    }
}
