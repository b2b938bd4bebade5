package dev.space.workflow;

import static io.temporal.api.enums.v1.TimeoutType.TIMEOUT_TYPE_HEARTBEAT;
import static io.temporal.api.enums.v1.TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START;
import static org.assertj.core.api.Assertions.assertThat;

import dev.space.contract.node.NodeActivities;
import dev.space.model.Command;
import dev.space.model.OperationId;
import dev.space.model.OperationState;
import dev.space.model.SessionState;
import dev.space.testkit.FakeNode;
import dev.space.testkit.Faults.Fault;
import io.temporal.api.enums.v1.TimeoutType;
import io.temporal.api.history.v1.HistoryEvent;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Time-outs of Temporal's own: nobody says no, and nobody says that a call was lost. */
final class SessionTimeoutsTest {

    /** More than a task on a node's queue waits for a worker. */
    private static final Duration PICK_UP = Duration.ofSeconds(12);

    private static final Duration MISSED =
            Duration.ofMillis(2 * NodeActivities.HEARTBEAT_TIMEOUT_MILLIS);

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
        for (World.Session session :
                new World.Session[] {pausing, saving, crashing, created, resuming}) {
            assertThat(world.awaitThat(() -> timedOut(session, TIMEOUT_TYPE_SCHEDULE_TO_START)))
                    .as("a step of %s waited in vain for a worker", session.open())
                    .isTrue();
        }
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

    /** The node's process took the step and is gone: its heartbeats are missed, and soon. */
    @Test
    void aStepWhoseHeartbeatsCeaseIsTakenUpAgain() {
        World.Session pausing = running();
        World.Session saving = running();
        world.faults.script("pause", Fault.HANGS);
        world.faults.script("checkpoint", Fault.HANGS);
        OperationId pause = submit(pausing, Command.PAUSE);
        OperationId checkpoint = submit(saving, Command.CHECKPOINT);
        awaitRetried("pause"); // an activity that runs keeps the test server from skipping time
        awaitRetried("checkpoint");

        assertThat(pausing.await(pause)).isEqualTo(OperationState.DONE);
        assertThat(saving.await(checkpoint)).isEqualTo(OperationState.DONE);
        world.nodes().forEach(FakeNode::deliverLate); // the first attempts arrive, and are old
        for (World.Session session : new World.Session[] {pausing, saving}) {
            assertThat(timedOut(session, TIMEOUT_TYPE_HEARTBEAT)).isTrue();
            assertThat(session.row().snapshots).hasSize(1);
            assertThat(world.node(World.FIRST).snapshots(session.id)).hasSize(1);
            session.destroy();
            session.awaitState(SessionState.DESTROYED);
            world.nothingIsLeftOf(session);
        }
    }

    private void awaitRetried(String step) {
        boolean again = world.awaitThat(() -> world.faults.count(step) >= 2, MISSED);
        assertThat(again).as("%s is tried again", step).isTrue();
    }

    private static boolean timedOut(World.Session session, TimeoutType type) {
        return session.history().getEvents().stream()
                .filter(HistoryEvent::hasActivityTaskTimedOutEventAttributes)
                .map(e -> e.getActivityTaskTimedOutEventAttributes().getFailure())
                .anyMatch(f -> f.getTimeoutFailureInfo().getTimeoutType() == type);
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
