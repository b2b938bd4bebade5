package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.contract.session.DeadlinePolicy;
import dev.space.contract.session.IdleReport;
import dev.space.contract.session.KeyRevokedReport;
import dev.space.contract.session.NodeChange;
import dev.space.contract.session.NodeFullReport;
import dev.space.contract.session.PolicyAction;
import dev.space.contract.session.RecoveryPolicy;
import dev.space.model.Command;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.ReasonCode;
import dev.space.model.SessionState;
import dev.space.model.SnapshotKind;
import dev.space.testkit.FakeStore;
import dev.space.testkit.Faults.Fault;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What happens without anybody asking for it. */
final class SessionEventsTest {

    private final World world = World.calm();
    private final World.Session session = world.new Session();

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void aCrashComesBackFromTheCheckpointAndListsTheNewerDisk() {
        session.create();
        session.run(Command.CHECKPOINT);
        session.crash();

        awaitOperation(OperationKind.RECOVER, OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(session.row().epoch).isEqualTo(2);
        assertThat(session.row().reason.code()).isEqualTo(ReasonCode.GUEST_CRASH);
        assertThat(session.row().snapshots)
                .extracting(s -> s.kind())
                .containsExactly(SnapshotKind.FULL, SnapshotKind.DISK);
        assertThat(world.node(World.FIRST).running()).hasSize(1);
    }

    @Test
    void aCrashWithoutACheckpointBootsFromTheDeadDisk() {
        session.create();
        session.crash();

        awaitOperation(OperationKind.RECOVER, OperationState.DONE);
        assertThat(session.row().snapshots).hasSize(1);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
    }

    @Test
    void aCrashLoopEndsInFailedAndAPersonCanGoOn() {
        session.recovery(new RecoveryPolicy(1, 600_000)).create();
        session.crash();
        awaitOperation(OperationKind.RECOVER, OperationState.DONE);
        session.crash();
        session.awaitState(SessionState.FAILED);

        assertThat(session.row().reason.code()).isEqualTo(ReasonCode.CRASH_LOOP);
        assertThat(world.node(World.FIRST).running()).isEmpty();
        assertThat(session.run(Command.RECOVER)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
    }

    /** A start would remove the disk that could not be kept for want of space. */
    @Test
    void aFullNodeCostsADeadSandboxItsDiskNever() {
        session.recovery(new RecoveryPolicy(1, 600_000)).create();
        world.faults.script("preserve", Fault.NO_SPACE);
        session.crash();
        session.awaitState(SessionState.FAILED);
        assertThat(session.row().snapshots).isEmpty();

        assertThat(session.run(Command.RECOVER)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(session.row().snapshots).hasSize(1);
    }

    @Test
    void aReportOfAnotherStartDoesNothing() {
        session.create();
        Fence vm = Objects.requireNonNull(session.record().vm());
        session.report(new Fence(vm.epoch(), vm.number(), vm.attempt() + 1));
        session.report(new Fence(vm.epoch() - 1, vm.number(), vm.attempt()));

        assertThat(session.run(Command.CHECKPOINT)).isEqualTo(OperationState.DONE);
        assertThat(session.row().epoch).isEqualTo(1);
    }

    @Test
    void aReportThatIsSentTwiceRecoversOnce() {
        session.create();
        Fence vm = session.crash();
        session.report(vm);
        awaitOperation(OperationKind.RECOVER, OperationState.DONE);
        session.report(vm);

        assertThat(session.run(Command.CHECKPOINT)).isEqualTo(OperationState.DONE);
        assertThat(session.row().epoch).isEqualTo(2);
    }

    @Test
    void theDeadlinePausesByPolicy() {
        long at = world.server.currentTimeMillis() + 60_000;
        session.deadline(new DeadlinePolicy(at, PolicyAction.PAUSE)).create();
        world.server.sleep(Duration.ofSeconds(61));

        session.awaitState(SessionState.PAUSED);
        assertThat(session.row().reason.code()).isEqualTo(ReasonCode.DEADLINE);
    }

    @Test
    void aDeadlineThatWasExtendedInTheRowWaits() {
        long at = world.server.currentTimeMillis() + 60_000;
        session.deadline(new DeadlinePolicy(at, PolicyAction.DESTROY)).create();
        session.row().deadline = new DeadlinePolicy(at + 3_600_000, PolicyAction.DESTROY);
        world.server.sleep(Duration.ofSeconds(61));
        assertThat(session.run(Command.CHECKPOINT)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);

        world.server.sleep(Duration.ofHours(1));
        session.awaitState(SessionState.DESTROYED);
        world.nothingIsLeftOf(session);
    }

    @Test
    void theDeadlineDestroysWhatIsPaused() {
        long at = world.server.currentTimeMillis() + 60_000;
        session.deadline(new DeadlinePolicy(at, PolicyAction.DESTROY)).create();
        session.run(Command.PAUSE);
        world.server.sleep(Duration.ofSeconds(61));

        session.awaitState(SessionState.DESTROYED);
        world.nothingIsLeftOf(session);
    }

    @Test
    void idlenessPausesOnlyTheSandboxThatWasIdle() {
        session.idle(PolicyAction.PAUSE).create();
        session.typed().idle(new IdleReport(7, 0, null));
        assertThat(session.run(Command.CHECKPOINT)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);

        session.typed().idle(new IdleReport(1, 0, null));
        session.awaitState(SessionState.PAUSED);
        assertThat(session.row().reason.code()).isEqualTo(ReasonCode.IDLE);
    }

    @Test
    void aSandboxThatAFullNodeHoldsIsPausedAndGoesOnLater() {
        session.create();
        session.typed().nodeFull(new NodeFullReport(7));
        assertThat(session.run(Command.CHECKPOINT)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);

        session.typed().nodeFull(new NodeFullReport(1));
        session.typed().nodeFull(new NodeFullReport(1));
        session.awaitState(SessionState.PAUSED);
        assertThat(session.row().reason.code()).isEqualTo(ReasonCode.NODE_DISK_FULL);
        assertThat(session.run(Command.RESUME)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
    }

    @Test
    void aRevokedKeyEndsWhatRunsAndTheSessionIsRecoveredWhenTheKeyIsBack() {
        session.create();
        assertThat(session.run(Command.CHECKPOINT)).isEqualTo(OperationState.DONE);
        session.typed().keyRevoked(new KeyRevokedReport(7));
        assertThat(session.run(Command.CHECKPOINT)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).as("another sandbox's").isEqualTo(SessionState.RUNNING);

        session.typed().keyRevoked(new KeyRevokedReport(1));
        session.typed().keyRevoked(new KeyRevokedReport(1));
        session.awaitState(SessionState.FAILED);
        assertThat(session.row().reason.code()).isEqualTo(ReasonCode.KEY_REVOKED);
        assertThat(world.node(World.FIRST).running()).isEmpty();
        assertThat(session.run(Command.RECOVER)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
    }

    @Test
    void aRevokedKeyLeavesWhatDoesNotRunAsItIs() {
        session.create();
        assertThat(session.run(Command.PAUSE)).isEqualTo(OperationState.DONE);
        session.typed().keyRevoked(new KeyRevokedReport(1));
        assertThat(session.run(Command.RESUME)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
    }

    @Test
    void anIdlePolicyThatWasChangedIsTheOneThatCounts() {
        session.idle(PolicyAction.DESTROY).create();
        session.typed().idle(new IdleReport(1, 0, PolicyAction.SUSPEND));
        session.awaitState(SessionState.PAUSED);
        session.typed().idle(new IdleReport(1, 0, PolicyAction.PAUSE));
        assertThat(session.run(Command.RESUME)).isEqualTo(OperationState.DONE);
        session.typed().idle(new IdleReport(2, 0, PolicyAction.PAUSE));
        session.awaitState(SessionState.PAUSED);
        session.typed().idle(new IdleReport(2, 0, PolicyAction.SUSPEND));
        session.awaitState(SessionState.SUSPENDED);
    }

    @Test
    void aRunningSessionWhoseNodeIsDeclaredLostFailsUnderANewEpoch() {
        session.create();
        world.node(World.FIRST).reachable(false);
        session.typed().nodeChanged(lost(World.FIRST));

        session.awaitState(SessionState.FAILED);
        assertThat(session.row().reason.code()).isEqualTo(ReasonCode.NODE_LOST);
        assertThat(session.row().epoch).isEqualTo(2);
        assertThat(session.run(Command.RECOVER)).isEqualTo(OperationState.FAILED);
        session.destroy();
        session.awaitState(SessionState.DESTROYED);
        assertThat(session.row().owed).contains(World.FIRST);
    }

    @Test
    void aPausedSessionWhoseNodeIsDeclaredLostFails() {
        session.create();
        session.run(Command.PAUSE);
        session.typed().nodeChanged(lost(World.FIRST));

        session.awaitState(SessionState.FAILED);
        assertThat(session.row().reason.code()).isEqualTo(ReasonCode.NODE_LOST);
    }

    @Test
    void declaringTheNodeLostEndsTheOperationInFlightAtOnce() {
        session.create();
        world.node(World.FIRST).reachable(false);
        OperationId pause = session.request(Command.PAUSE);
        session.submit(pause, Command.PAUSE, null);
        session.typed().nodeChanged(lost(World.FIRST));

        assertThat(session.await(pause)).isEqualTo(OperationState.FAILED);
        session.awaitState(SessionState.FAILED);
    }

    @Test
    void aChangeOfAnotherNodeDoesNothing() {
        session.create();
        session.typed().nodeChanged(lost(World.SECOND));
        assertThat(session.run(Command.CHECKPOINT)).isEqualTo(OperationState.DONE);
        assertThat(session.row().epoch).isEqualTo(1);
    }

    @Test
    void aLostLeaseIsShownAndDestroyDoesNotWaitForTheNode() {
        session.create();
        session.typed().nodeChanged(new NodeChange(World.FIRST, NodeChange.Kind.LEASE_LOST));
        assertThat(session.record().nodeAway()).isTrue();
        session.typed().nodeChanged(new NodeChange(World.FIRST, NodeChange.Kind.BACK));
        assertThat(session.record().nodeAway()).isFalse();

        session.typed().nodeChanged(new NodeChange(World.FIRST, NodeChange.Kind.LEASE_LOST));
        // What is heard in one workflow task may be acted on in any order.
        assertThat(session.record().nodeAway()).isTrue();
        session.destroy();
        session.awaitState(SessionState.DESTROYED);
        assertThat(session.row().owed).containsExactly(World.FIRST);
        assertThat(world.faults.count("release")).isZero();
    }

    private static NodeChange lost(String node) {
        return new NodeChange(node, NodeChange.Kind.DECLARED_LOST);
    }

    private void awaitOperation(OperationKind kind, OperationState state) {
        assertThat(
                        world.awaitThat(() ->
                                world.store.operations(session.id).stream()
                                        .anyMatch(o -> is(o, kind, state))))
                .isTrue();
    }

    private static boolean is(FakeStore.Operation row, OperationKind kind, OperationState state) {
        return row.kind == kind && row.state == state;
    }
}
