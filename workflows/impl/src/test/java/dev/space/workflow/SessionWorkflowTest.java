package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.contract.session.CommandAnswer;
import dev.space.contract.session.CommandAnswer.Verdict;
import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.OperationState;
import dev.space.model.SessionState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A session's ordinary life. */
class SessionWorkflowTest {

    private final World world = newWorld();
    private final World.Session session = world.new Session();

    World newWorld() {
        return World.calm();
    }

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void createAnswersWhenTheSandboxRuns() {
        CommandAnswer answer = session.create();

        assertThat(answer.verdict()).isEqualTo(Verdict.ACCEPTED);
        assertThat(answer.state()).isEqualTo(SessionState.RUNNING);
        assertThat(answer.epoch()).isEqualTo(1);
        assertThat(answer.node()).isEqualTo(World.FIRST);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(session.row().vm).isEqualTo(session.record().vm());
        assertThat(world.node(World.FIRST).running()).hasSize(1);
    }

    @Test
    void creatingAgainWithTheSameOperationCreatesOnce() {
        OperationId operation = session.request(null);
        session.create(operation);
        session.create(operation);

        assertThat(world.faults.count("start")).isEqualTo(1);
    }

    @Test
    void pauseAndResumeKeepTheSessionAndTakeANewEpoch() {
        session.create();
        assertThat(session.run(Command.PAUSE)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.PAUSED);
        assertThat(world.node(World.FIRST).running()).isEmpty();
        assertThat(session.row().snapshots).hasSize(1);

        assertThat(session.run(Command.RESUME)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(session.row().epoch).isEqualTo(2);
    }

    @Test
    void checkpointLeavesItRunningAndListsTheSnapshot() {
        session.create();
        OperationId operation = session.request(Command.CHECKPOINT);
        session.submit(operation, Command.CHECKPOINT, "before");
        assertThat(session.await(operation)).isEqualTo(OperationState.DONE);

        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(session.row().snapshots).hasSize(1);
        assertThat(session.row().names).containsKey("before");
    }

    @Test
    void aCheckpointOfAPausedSessionNamesItsSnapshot() {
        session.create();
        session.run(Command.PAUSE);
        OperationId operation = session.request(Command.CHECKPOINT);
        session.submit(operation, Command.CHECKPOINT, "kept");

        assertThat(session.await(operation)).isEqualTo(OperationState.DONE);
        assertThat(session.row().names)
                .containsEntry("kept", session.row().snapshots.getFirst().id().value());
        assertThat(world.faults.count("checkpoint")).isZero();
    }

    @Test
    void destroyLeavesNothing() {
        session.create();
        session.run(Command.CHECKPOINT);
        CommandAnswer answer = session.destroy();

        assertThat(answer.verdict()).isEqualTo(Verdict.ACCEPTED);
        session.awaitState(SessionState.DESTROYED);
        world.nothingIsLeftOf(session);
        assertThat(session.row().owed).isEmpty();
    }

    @Test
    void whatIsAlreadySoIsDoneWithoutAnOperation() {
        session.create();
        assertThat(session.submit(Command.RESUME).verdict()).isEqualTo(Verdict.ALREADY);
        session.run(Command.PAUSE);
        assertThat(session.submit(Command.PAUSE).verdict()).isEqualTo(Verdict.ALREADY);
        assertThat(world.faults.count("accept")).isEqualTo(2);
    }

    @Test
    void aRefusalSaysTheStateAndWhatIsAllowed() {
        session.create();
        CommandAnswer answer = session.submit(Command.RECOVER);

        assertThat(answer.verdict()).isEqualTo(Verdict.REFUSED);
        assertThat(answer.error()).isEqualTo(ErrorCode.NOT_FAILED);
        assertThat(answer.state()).isEqualTo(SessionState.RUNNING);
        assertThat(answer.allowed()).contains(Command.PAUSE).doesNotContain(Command.RECOVER);
        assertThat(world.store.operation(answer.operation()).state)
                .isEqualTo(OperationState.REFUSED);
    }

    @Test
    void theDataPlaneResumesAPausedSession() {
        session.create();
        session.run(Command.PAUSE);
        assertThat(session.run(Command.DATA_PLANE)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
    }

    @Test
    void restoreOfAPausedSessionIsAResume() {
        session.create();
        session.run(Command.PAUSE);
        assertThat(session.run(Command.RESTORE)).isEqualTo(OperationState.DONE);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
    }
}
