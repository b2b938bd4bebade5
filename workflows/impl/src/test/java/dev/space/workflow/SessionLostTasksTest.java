package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.contract.control.AcceptOperation;
import dev.space.contract.node.StartSandbox;
import dev.space.contract.node.StepRef;
import dev.space.contract.session.NodeChange;
import dev.space.contract.session.Reason;
import dev.space.model.Command;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.ReasonCode;
import dev.space.model.SessionState;
import dev.space.model.Size;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The rows know more than the workflow: a workflow task wrote to them and was lost before it was
 * reported, and its repetition met other events and decided otherwise. Found by {@link
 * SessionPropertyTest}; here the lost task's writes are made by hand.
 */
final class SessionLostTasksTest {

    private final World world = World.calm();
    private final World.Session session = world.new Session();

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void whatTheRowHasInFlightIsTakenUpAndTheCommandWaitsForIt() {
        session.create();
        OperationId lost = world.newOperation();
        accepted(lost, OperationKind.PAUSE, true);
        OperationId checkpoint = session.request(Command.CHECKPOINT);
        session.submit(checkpoint, Command.CHECKPOINT, "kept");

        assertThat(session.await(lost)).isEqualTo(OperationState.DONE);
        assertThat(session.await(checkpoint)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.PAUSED);
        assertThat(session.row().names).containsKey("kept");
        assertThat(session.run(Command.RESUME)).isEqualTo(OperationState.DONE);
        destroyed();
    }

    @Test
    void aCrashThatMeetsALostOperationIsStillRecoveredFrom() {
        session.create();
        OperationId lost = world.newOperation();
        accepted(lost, OperationKind.CHECKPOINT, true);
        session.crash();

        session.awaitRecovered();
        assertThat(session.await(lost)).isEqualTo(OperationState.FAILED);
        session.awaitState(SessionState.RUNNING);
        assertThat(session.row().epoch).isEqualTo(2);
        destroyed();
    }

    @Test
    void anOperationThatALostTaskBeganIsCarriedOn() {
        session.create();
        OperationId pause = session.request(Command.PAUSE);
        accepted(pause, OperationKind.PAUSE, false);
        session.submit(pause, Command.PAUSE, null);

        assertThat(session.await(pause)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.PAUSED);
        assertThat(session.row().number).isEqualTo(2);
        destroyed();
    }

    @Test
    void aDestroyThatALostTaskBeganIsCarriedOn() {
        session.create();
        world.node(World.FIRST).reachable(false);
        OperationId pause = session.request(Command.PAUSE);
        session.submit(pause, Command.PAUSE, null);
        OperationId destroy = session.request(Command.DESTROY);
        accepted(destroy, OperationKind.DESTROY, false);
        world.node(World.FIRST).reachable(true);

        assertThat(session.await(destroy)).isEqualTo(OperationState.DONE);
        assertThat(world.store.operation(pause).state).isEqualTo(OperationState.SUPERSEDED);
        world.nothingIsLeftOf(session);
    }

    @Test
    void destroyFencesTheNodesOfACreationThatTheWorkflowForgot() {
        OperationId create = session.request(null);
        accepted(create, OperationKind.CREATE, false);
        Fence start = new Fence(1, 1, Fence.attempt(1, 1));
        world.node(World.FIRST)
                .startSandbox(
                        new StartSandbox(
                                new StepRef(session.id, create, start),
                                "digest",
                                Size.XS,
                                null,
                                null,
                                "forgotten",
                                5));
        assertThat(world.node(World.FIRST).running()).hasSize(1);

        destroyed();
        assertThat(session.row().owed).isEmpty();
    }

    /** Once the workflow failed its task for ever, because a session must have a node. */
    @Test
    void aLostNodeIsNotRestoredFromAfterTheWorkflowWasRevived() {
        session.crashing().create();
        session.run(Command.CHECKPOINT);
        String node = Objects.requireNonNull(session.row().node);
        world.node(node).off();
        world.store.leaseOver(node);
        session.typed().nodeChanged(new NodeChange(node, NodeChange.Kind.DECLARED_LOST));
        session.awaitState(SessionState.FAILED);
        session.terminateAndRevive();

        assertThat(session.run(Command.RECOVER)).isEqualTo(OperationState.FAILED);
        session.destroy();
        session.awaitState(SessionState.DESTROYED);
    }

    /** Writes what a task that was lost wrote. */
    private void accepted(OperationId operation, OperationKind kind, boolean automatic) {
        var answer =
                world.store.acceptOperation(
                        new AcceptOperation(
                                session.id,
                                operation,
                                kind,
                                automatic,
                                false,
                                null,
                                kind == OperationKind.CREATE,
                                new Reason(ReasonCode.IDLE, "", 0)));
        assertThat(answer.accepted()).isTrue();
    }

    private void destroyed() {
        session.destroy();
        session.awaitState(SessionState.DESTROYED);
        world.nothingIsLeftOf(session);
    }
}
