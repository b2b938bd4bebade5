package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.contract.TaskQueues;
import dev.space.contract.session.SessionStart;
import dev.space.contract.session.SessionWorkflow;
import dev.space.model.Command;
import dev.space.model.OperationId;
import dev.space.model.OperationState;
import dev.space.model.SessionState;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.client.WorkflowOptions;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Workflows that were started before anybody asked for their sessions. */
final class SessionAheadTest {

    private final World world = World.calm();
    private final World.Session session = world.new Session().crashing();

    @AfterEach
    void close() {
        world.nothingIsLeftOf(session);
        world.close();
    }

    static void startAhead(World world, World.Session session) {
        var _ =
                world.server
                        .getWorkflowClient()
                        .newUntypedWorkflowStub(
                                "SessionWorkflow",
                                WorkflowOptions.newBuilder()
                                        .setWorkflowId(session.id.value())
                                        .setTaskQueue(TaskQueues.CONTROL)
                                        .build())
                        .start(SessionStart.ahead(session.id));
    }

    private WorkflowExecutionStatus status() {
        return session.stub().describe().getStatus();
    }

    @Test
    void livesAsAnyOther() {
        startAhead(world, session);
        String run = session.stub().describe().getExecution().getRunId();
        session.create();

        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(session.stub().describe().getExecution().getRunId()).isEqualTo(run);
        assertThat(session.run(Command.CHECKPOINT)).isEqualTo(OperationState.DONE);
        session.crash(); // what a policy of the session's does
        session.awaitRecovered();
        session.destroy();
        session.awaitState(SessionState.DESTROYED);
    }

    @Test
    void isDestroyedBeforeItWasCreated() {
        startAhead(world, session);
        OperationId create = session.request(null); // written, and never sent
        session.destroy();

        session.awaitState(SessionState.DESTROYED);
        assertThat(session.await(create)).isNotEqualTo(OperationState.DONE);
    }

    @Test
    void endsWhenNobodyAsksForItAndIsStartedAgainWhenSomebodyDoes() {
        startAhead(world, session);
        world.server.sleep(SessionWorkflow.AHEAD_MAX.minusMinutes(1));
        assertThat(status()).isEqualTo(WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING);
        world.server.sleep(Duration.ofMinutes(2));
        assertThat(
                        world.awaitThat(() ->
                                status()
                                        == WorkflowExecutionStatus
                                                .WORKFLOW_EXECUTION_STATUS_COMPLETED))
                .isTrue();

        OperationId create = session.request(null);
        session.revive(); // what the dispatcher does when the workflow is gone
        session.create(create);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(Objects.requireNonNull(session.record()).epoch()).isEqualTo(1);
        session.destroy();
        session.awaitState(SessionState.DESTROYED);
    }
}
