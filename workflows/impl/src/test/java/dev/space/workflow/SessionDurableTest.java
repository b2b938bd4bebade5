package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.contract.session.DurableRef;
import dev.space.model.Command;
import dev.space.model.Durability;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.SessionState;
import dev.space.testkit.FakeDurables;
import dev.space.testkit.FakeNode;
import dev.space.testkit.FakeStore;
import dev.space.testkit.Faults.Fault;
import dev.space.testkit.Held;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Checkpoints that are stored too, while the session runs. */
final class SessionDurableTest {

    private final World world = World.calm();
    private final World.Session session = world.new Session().crashing();

    @AfterEach
    void close() {
        session.destroy();
        session.awaitState(SessionState.DESTROYED);
        world.nothingIsLeftOf(session);
        world.close();
    }

    private FakeStore.Session row() {
        return session.row();
    }

    private FakeNode.Vm vm() {
        return Objects.requireNonNull(world.node(World.FIRST).vm(session.id));
    }

    private OperationId requested() {
        OperationId operation = session.request(Command.CHECKPOINT);
        world.store.operation(operation).durable = true;
        return operation;
    }

    private OperationState stored() {
        OperationId operation = requested();
        session.submit(operation, Command.CHECKPOINT, null);
        return session.await(operation);
    }

    private Held uploading(OperationId operation) throws InterruptedException {
        Held held = world.node(World.FIRST).hold("upload", Held.Point.BEFORE_EFFECT);
        session.submit(operation, Command.CHECKPOINT, null);
        assertThat(held.awaitArrival(World.PATIENCE)).isTrue();
        return held;
    }

    @Test
    void theSessionGoesOnAndIsDurable() {
        session.create();
        Fence start = vm().start();
        assertThat(stored()).isEqualTo(OperationState.DONE);
        assertThat(vm().start()).as("the VM that ran").isEqualTo(start);
        assertThat(row().state).isEqualTo(SessionState.RUNNING);
        assertThat(row().vm).isEqualTo(start);
        assertThat(session.record().durability()).isEqualTo(Durability.DURABLE);
        DurableRef durable = Objects.requireNonNull(session.record().durable());
        assertThat(durable.snapshot()).isEqualTo(row().snapshots.getLast());
        assertThat(world.bucket.keys()).hasSize(1);
    }

    @Test
    void itsNodeLostItGoesOnFromThere() {
        session.create();
        stored();
        world.node(World.FIRST).off();
        world.store.leaseOver(World.FIRST);
        session.typed()
                .nodeChanged(
                        new dev.space.contract.session.NodeChange(
                                World.FIRST,
                                dev.space.contract.session.NodeChange.Kind.DECLARED_LOST));
        session.awaitRecovered();
        assertThat(row().node).isEqualTo(World.SECOND);
        assertThat(row().state).isEqualTo(SessionState.RUNNING);
        world.node(World.FIRST).reachable(true); // for what is owed
    }

    @Test
    void withoutAnUploadTheCheckpointIsKeptAndTheVmGoesOn() {
        session.create();
        Fault[] refused = new Fault[9];
        Arrays.fill(refused, Fault.REFUSED);
        world.faults.script("upload", refused);
        assertThat(stored()).isEqualTo(OperationState.FAILED);
        assertThat(vm().running()).isTrue();
        assertThat(row().state).isEqualTo(SessionState.RUNNING);
        assertThat(row().durables.getFirst().state).isEqualTo(FakeDurables.State.GARBAGE);
        assertThat(row().snapshots).hasSize(1);
        assertThat(world.node(World.FIRST).snapshots(session.id)).hasSize(1);
        assertThat(session.record().durability()).isEqualTo(Durability.LOCAL);
    }

    @Test
    void withoutACheckpointNothingIsSent() {
        session.create();
        world.faults.script("checkpoint", Fault.REFUSED);
        assertThat(stored()).isEqualTo(OperationState.FAILED);
        assertThat(row().durables).isEmpty();
        assertThat(world.bucket.keys()).isEmpty();
        assertThat(vm().running()).isTrue();
    }

    @Test
    void aPauseNeedNotWaitForTheUpload() throws InterruptedException {
        session.create();
        OperationId checkpoint = requested();
        Held upload = uploading(checkpoint);
        OperationId pause = session.request(Command.PAUSE);
        session.submit(pause, Command.PAUSE, null);
        upload.release();
        assertThat(session.await(pause)).isEqualTo(OperationState.DONE);
        assertThat(world.store.operation(checkpoint).state).isEqualTo(OperationState.CANCELLED);
        assertThat(row().state).isEqualTo(SessionState.PAUSED);
        assertThat(row().durables.getFirst().state).isEqualTo(FakeDurables.State.GARBAGE);
    }

    @Test
    void aCrashIsRecoveredBeforeTheUploadIsOver() throws InterruptedException {
        OperationId create = session.create().operation();
        OperationId checkpoint = requested();
        Held upload = uploading(checkpoint);
        session.crash();
        session.reachThrough(create); // it has heard of it
        upload.release();
        session.awaitRecovered();
        assertThat(world.store.operation(checkpoint).state).isEqualTo(OperationState.CANCELLED);
        assertThat(row().state).isEqualTo(SessionState.RUNNING);
        assertThat(vm().source()).isEqualTo(row().snapshots.getFirst().id());
    }

    @Test
    void ofAPausedSessionItOnlyNamesWhatIsThere() {
        session.create();
        session.run(Command.PAUSE);
        assertThat(stored()).isEqualTo(OperationState.DONE);
        assertThat(row().durables).isEmpty();
        assertThat(
                        world.store.operations(session.id).stream()
                                .filter(o -> o.kind == OperationKind.CHECKPOINT))
                .hasSize(1);
    }
}
