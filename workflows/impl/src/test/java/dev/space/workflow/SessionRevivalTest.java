package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.contract.session.RecoveryPolicy;
import dev.space.model.Command;
import dev.space.model.OperationId;
import dev.space.model.OperationState;
import dev.space.model.ReasonCode;
import dev.space.model.SessionState;
import dev.space.testkit.Faults.Fault;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An operator terminated the workflow, and the reconciler starts it again from the row. */
final class SessionRevivalTest {

    private final World world = World.calm();
    private final World.Session session = world.new Session().crashing();

    @AfterEach
    void close() {
        if (session.row().state != SessionState.DESTROYED) {
            session.destroy();
        }
        session.awaitState(SessionState.DESTROYED);
        world.nothingIsLeftOf(session);
        world.close();
    }

    @Test
    void aRunningSessionGoesOnFromItsRow() {
        session.create();
        session.run(Command.CHECKPOINT);
        session.terminateAndRevive();

        assertThat(session.run(Command.PAUSE)).isEqualTo(OperationState.DONE);
        assertThat(session.run(Command.RESUME)).isEqualTo(OperationState.DONE);
        assertThat(session.row().vm).isEqualTo(session.record().vm());
        assertThat(session.row().snapshots).hasSize(2);
    }

    @Test
    void aRunningSessionThatWasRevivedStillHearsOfItsVm() {
        session.create();
        session.terminateAndRevive();
        session.crash();

        session.awaitRecovered();
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(session.row().epoch).isEqualTo(2);
    }

    @Test
    void aPausedSessionGoesOnFromItsRow() {
        session.create();
        session.run(Command.PAUSE);
        session.terminateAndRevive();

        assertThat(session.run(Command.RESUME)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(session.row().epoch).isEqualTo(2);
    }

    @Test
    void aFailedSessionGoesOnFromItsRow() {
        session.recovery(new RecoveryPolicy(0, 1)).create();
        session.crash();
        session.awaitState(SessionState.FAILED);
        session.terminateAndRevive();

        assertThat(session.run(Command.RECOVER)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
    }

    @Test
    void aCreationInFlightIsCarriedOn() {
        world.node(World.FIRST).reachable(false);
        OperationId create = session.request(null);
        var first = CompletableFuture.supplyAsync(() -> session.create(create));
        cutOff(create);

        assertThat(session.await(create)).isEqualTo(OperationState.DONE);
        assertThat(session.create(create).state()).isEqualTo(SessionState.RUNNING);
        assertThat(first.handle((_, _) -> true)).succeedsWithin(World.PATIENCE);
        assertThat(world.nodes().stream().mapToInt(n -> n.running().size()).sum()).isOne();
    }

    @Test
    void aPauseInFlightIsCarriedOn() {
        session.create();
        OperationId pause = interrupted(Command.PAUSE);

        assertThat(session.await(pause)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.PAUSED);
        assertThat(session.row().snapshots).hasSize(1);
    }

    @Test
    void aPauseThatWasPublishedIsCarriedOn() {
        session.create();
        world.faults.script("pause", Fault.ANSWER_LOST);
        world.faults.script("pause", Fault.CALL_LOST);
        OperationId pause = session.request(Command.PAUSE);
        session.submit(pause, Command.PAUSE, null);
        assertThat(world.awaitThat(() -> world.faults.count("pause") >= 1)).isTrue();
        session.terminateAndRevive();

        assertThat(session.await(pause)).isEqualTo(OperationState.DONE);
        assertThat(session.row().snapshots).hasSize(1);
        assertThat(session.run(Command.RESUME)).isEqualTo(OperationState.DONE);
    }

    @Test
    void aResumeInFlightIsCarriedOn() {
        session.create();
        session.run(Command.PAUSE);
        OperationId resume = interrupted(Command.RESUME);

        assertThat(session.await(resume)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(session.row().epoch).isEqualTo(2);
    }

    @Test
    void aRecoveryInFlightIsCarriedOn() {
        session.create();
        String node = Objects.requireNonNull(session.row().node);
        var start = Objects.requireNonNull(world.node(node).exit(session.id));
        world.node(node).reachable(false);
        session.report(start);
        assertThat(world.awaitThat(() -> session.row().number == 2)).isTrue();
        session.terminateAndRevive();
        world.node(node).reachable(true);

        session.awaitRecovered();
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(session.row().epoch).isEqualTo(2);
    }

    @Test
    void aCheckpointInFlightIsCarriedOnAndKeepsItsName() {
        session.create();
        world.node(World.FIRST).reachable(false);
        OperationId checkpoint = session.request(Command.CHECKPOINT);
        session.submit(checkpoint, Command.CHECKPOINT, "before");
        cutOff(checkpoint);

        assertThat(session.await(checkpoint)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(session.row().snapshots).hasSize(1);
        assertThat(session.row().names)
                .containsEntry("before", session.row().snapshots.getFirst().id().value());
    }

    /** The row of what joined is still REQUESTED, so that it is sent again. */
    @Test
    void whatJoinedAnOperationEndsWithItAfterItWasSentAgain() {
        session.create();
        world.node(World.FIRST).reachable(false);
        OperationId first = session.request(Command.PAUSE);
        session.submit(first, Command.PAUSE, null);
        OperationId second = session.request(Command.PAUSE);
        session.submit(second, Command.PAUSE, null);
        session.terminateAndRevive();
        session.submit(second, Command.PAUSE, null);
        world.node(World.FIRST).reachable(true);

        assertThat(session.await(first)).isEqualTo(OperationState.DONE);
        assertThat(session.await(second)).isEqualTo(OperationState.DONE);
        assertThat(session.row().snapshots).hasSize(1);
    }

    @Test
    void aCrashLoopIsRemembered() {
        session.recovery(new RecoveryPolicy(1, 3_600_000)).create();
        session.crash();
        session.awaitRecovered();
        session.awaitState(SessionState.RUNNING);
        session.terminateAndRevive();
        session.crash();

        session.awaitState(SessionState.FAILED);
        assertThat(session.row().reason.code()).isEqualTo(ReasonCode.CRASH_LOOP);
    }

    @Test
    void aDestroyInFlightIsCarriedOn() {
        session.create();
        world.node(World.FIRST).reachable(false);
        OperationId destroy = session.request(Command.DESTROY);
        session.destroy(destroy);
        session.terminateAndRevive();
        world.node(World.FIRST).reachable(true);

        assertThat(session.await(destroy)).isEqualTo(OperationState.DONE);
    }

    private OperationId interrupted(Command command) {
        world.node(World.FIRST).reachable(false);
        OperationId operation = session.request(command);
        session.submit(operation, command, null);
        cutOff(operation);
        return operation;
    }

    /** Ends the run while its step has no answer, and then lets the node answer. */
    private void cutOff(OperationId operation) {
        assertThat(
                        world.awaitThat(() ->
                                world.store.operation(operation).state == OperationState.ACCEPTED))
                .isTrue();
        session.terminateAndRevive();
        world.node(World.FIRST).reachable(true);
    }
}
