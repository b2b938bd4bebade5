package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Command;
import dev.space.model.OperationId;
import dev.space.model.OperationState;
import dev.space.model.SessionState;
import dev.space.testkit.FakeNode;
import dev.space.testkit.Faults.Fault;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Time-outs of Temporal's own: nobody says no, and nobody says that a call was lost. */
final class SessionTimeoutsTest {

    /** More than a task on a node's queue waits for a worker. */
    private static final Duration PICK_UP = Duration.ofSeconds(12);

    private final World world = World.calm();

    @AfterEach
    void close() {
        world.close();
    }

    /** All in one test, because they wait out the same seconds. */
    @Test
    void noOperationIsLostWithAQueueThatNobodyServes() {
        World.Session pausing = running();
        World.Session saving = running();
        World.Session crashing = running();
        World.Session created = world.new Session();
        World.Session resuming = running();
        World.Session dying = running();
        resuming.run(Command.PAUSE);
        world.stopNodeWorkers();
        long from = world.server.currentTimeMillis();

        OperationId pause = submit(pausing, Command.PAUSE);
        OperationId checkpoint = submit(saving, Command.CHECKPOINT);
        crashing.crash();
        // direct calls first: they hang beyond their cap, and then the queue is tried
        world.faults.script("start", Fault.HANGS, Fault.HANGS);
        world.faults.script("release", Fault.HANGS);
        OperationId create = created.request(null);
        var creating = CompletableFuture.supplyAsync(() -> created.create(create));
        OperationId resume = submit(resuming, Command.RESUME);
        OperationId destroy = dying.request(Command.DESTROY);
        dying.destroy(destroy);
        assertThat(
                        world.awaitThat(
                                () -> world.server.currentTimeMillis() > from + PICK_UP.toMillis()))
                .isTrue();
        assertThat(world.store.operation(pause).state).isEqualTo(OperationState.ACCEPTED);
        world.nodes().forEach(FakeNode::deliverLate);
        world.restartNodeWorkers();

        assertThat(pausing.await(pause)).isEqualTo(OperationState.DONE);
        assertThat(saving.await(checkpoint)).isEqualTo(OperationState.DONE);
        crashing.awaitRecovered();
        assertThat(crashing.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(creating.join().state()).isEqualTo(SessionState.RUNNING);
        assertThat(resuming.await(resume)).isEqualTo(OperationState.DONE);
        assertThat(dying.await(destroy)).isEqualTo(OperationState.DONE);
        for (World.Session session :
                new World.Session[] {pausing, saving, crashing, created, resuming, dying}) {
            if (session.row().state != SessionState.DESTROYED) {
                session.destroy();
            }
            session.awaitState(SessionState.DESTROYED);
            world.nothingIsLeftOf(session);
        }
    }

    private World.Session running() {
        World.Session session = world.new Session();
        session.create();
        return session;
    }

    private static OperationId submit(World.Session session, Command command) {
        OperationId operation = session.request(command);
        session.submit(operation, command, null);
        return operation;
    }
}
