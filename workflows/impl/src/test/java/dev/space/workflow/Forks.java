package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Command;
import dev.space.model.Ids;
import dev.space.model.OperationId;
import dev.space.model.OperationState;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import dev.space.testkit.FakeNode;
import dev.space.testkit.FakeStore;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Forks as the API asks for them: the row names the children, which are made by its commit. */
final class Forks {

    private Forks() {}

    static OperationId request(
            World world, World.Session source, int children, @Nullable SnapshotId snapshot) {
        OperationId operation = source.request(Command.FORK);
        plan(world, operation, children, snapshot);
        return operation;
    }

    static void plan(
            World world, OperationId operation, int children, @Nullable SnapshotId snapshot) {
        var row = world.store.operation(operation);
        row.snapshot = snapshot;
        Random random = new Random(operation.hashCode());
        for (int i = 0; i < children; i++) {
            byte[] id = new byte[Ids.RANDOM_BYTES];
            random.nextBytes(id);
            row.children.put(new SessionId(Ids.text(SessionId.PREFIX, id)), world.newOperation());
        }
    }

    /** Sends one and waits until its row has ended. */
    static OperationId run(
            World world, World.Session source, int children, @Nullable SnapshotId snapshot) {
        OperationId operation = request(world, source, children, snapshot);
        source.submit(operation, Command.FORK, null);
        source.await(operation);
        return operation;
    }

    /** Every fork that was asked of the session. */
    static List<FakeStore.Operation> of(World world, World.Session source) {
        return world.store.operations(source.id).stream()
                .filter(o -> !o.children.isEmpty())
                .toList();
    }

    /** The children that were made, whose creation nobody has sent yet. */
    static List<World.Session> children(World world, FakeStore.Operation fork) {
        return fork.children.keySet().stream()
                .filter(world.store::exists)
                .map(id -> world.new Session(id))
                .toList();
    }

    /** As the API and the reconciler do with every row that is REQUESTED. */
    static void sendCreations(World world, OperationId fork) {
        sendCreations(world, world.store.operation(fork));
    }

    static void sendCreations(World world, FakeStore.Operation fork) {
        for (World.Session child : children(world, fork)) {
            OperationId create = Objects.requireNonNull(fork.children.get(child.id));
            if (!world.store.operation(create).state.ended()) {
                child.create(create);
                assertThat(child.await(create).ended()).isTrue();
            }
        }
    }

    /** As above, where the calls may be cut off. */
    static void sendQuietly(World world, OperationId operation) {
        try {
            sendCreations(world, operation);
        } catch (io.temporal.client.WorkflowException cutOff) {
            return;
        }
    }

    /** All of them or none; each runs from the snapshot, or is over with nothing left. */
    static void eachIsWholeOrGone(World world, FakeStore.Operation fork) {
        boolean done = fork.state == OperationState.DONE;
        List<World.Session> made = children(world, fork);
        assertThat(made).as("children of a fork").hasSize(done ? fork.children.size() : 0);
        for (World.Session child : made) {
            if (child.row().state == SessionState.RUNNING) {
                assertThat(vms(world, child)).hasSize(1);
                assertThat(vms(world, child).getFirst().start()).isEqualTo(child.row().vm);
                assertThat(vms(world, child).getFirst().source()).isNotNull();
            } else {
                assertThat(child.row().state).isEqualTo(SessionState.DESTROYED);
                world.nothingIsLeftOf(child);
            }
        }
    }

    static void destroyChildren(World world, FakeStore.Operation fork) {
        for (World.Session child : children(world, fork)) {
            if (child.row().state != SessionState.DESTROYED) {
                child.destroy();
                child.awaitState(SessionState.DESTROYED);
            }
            world.nothingIsLeftOf(child);
        }
    }

    static List<FakeNode.Vm> vms(World world, World.Session session) {
        return world.nodes().stream()
                .flatMap(n -> n.running().stream())
                .filter(vm -> vm.session().equals(session.id))
                .toList();
    }
}
