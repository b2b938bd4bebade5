package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.contract.session.CommandAnswer;
import dev.space.contract.session.CommandAnswer.Verdict;
import dev.space.contract.session.SubmitCommand;
import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.OperationState;
import dev.space.model.ReasonCode;
import dev.space.model.SessionState;
import dev.space.testkit.Faults.Fault;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Commands that meet an operation in flight, nodes that fail, and runs that go on. */
final class SessionRacesTest {

    private final World world = World.calm();
    private final World.Session session = world.new Session();

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void theSecondPauseJoinsTheFirst() {
        session.create();
        world.node(World.FIRST).reachable(false);
        OperationId first = session.request(Command.PAUSE);
        session.submit(first, Command.PAUSE, null);
        OperationId second = session.request(Command.PAUSE);
        CommandAnswer answer = session.submit(second, Command.PAUSE, null);
        assertThat(answer.verdict()).isEqualTo(Verdict.JOINED);
        assertThat(answer.operation()).isEqualTo(first);

        world.node(World.FIRST).reachable(true);
        assertThat(session.await(first)).isEqualTo(OperationState.DONE);
        assertThat(session.await(second)).isEqualTo(OperationState.DONE);
        assertThat(session.row().snapshots).hasSize(1);
    }

    @Test
    void aCommandThatWaitsIsDecidedOnTheStateTheOperationEndsIn() {
        session.create();
        world.node(World.FIRST).reachable(false);
        OperationId pause = session.request(Command.PAUSE);
        session.submit(pause, Command.PAUSE, null);
        OperationId resume = session.request(Command.RESUME);
        assertThat(session.submit(resume, Command.RESUME, null).verdict())
                .isEqualTo(Verdict.WAITING);
        OperationId recover = session.request(Command.RECOVER);
        session.submit(recover, Command.RECOVER, null);

        world.node(World.FIRST).reachable(true);
        assertThat(session.await(pause)).isEqualTo(OperationState.DONE);
        assertThat(session.await(resume)).isEqualTo(OperationState.DONE);
        assertThat(session.await(recover)).isEqualTo(OperationState.REFUSED);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
    }

    @Test
    void destroySupersedesACreationThatHangs() {
        world.node(World.FIRST).reachable(false);
        OperationId create = session.request(null);
        CompletableFuture<CommandAnswer> creating =
                CompletableFuture.supplyAsync(() -> session.create(create));
        awaitState(create, OperationState.ACCEPTED);
        OperationId destroy = session.request(Command.DESTROY);
        session.destroy(destroy);

        assertThat(creating.join().error()).isEqualTo(ErrorCode.GONE);
        assertThat(session.await(destroy)).isEqualTo(OperationState.DONE);
        assertThat(world.store.operation(create).state).isEqualTo(OperationState.SUPERSEDED);
        assertThat(session.row().state).isEqualTo(SessionState.DESTROYED);
        assertThat(session.row().owed).contains(World.FIRST);
    }

    @Test
    void destroyDuringPauseNeitherThawsNorLeavesTheSnapshot() {
        session.create();
        world.faults.script("pause", Fault.ANSWER_LOST, Fault.CALL_LOST, Fault.CALL_LOST);
        OperationId pause = session.request(Command.PAUSE);
        session.submit(pause, Command.PAUSE, null);
        session.destroy();

        session.awaitState(SessionState.DESTROYED);
        assertThat(world.store.operation(pause).state)
                .isIn(OperationState.SUPERSEDED, OperationState.DONE);
        world.nothingIsLeftOf(session);
    }

    @Test
    void aCreationGoesToAnotherNodeUnderANewEpochOnceTheFirstIsFenced() {
        world.faults.script("start", Fault.REFUSED, Fault.REFUSED);
        CommandAnswer answer = session.create();

        assertThat(answer.node()).isEqualTo(World.SECOND);
        assertThat(answer.epoch()).isEqualTo(2);
        assertThat(session.row().nodes).containsExactly(World.FIRST, World.SECOND);
        assertThat(world.faults.count("release")).isEqualTo(1);
        assertThat(world.node(World.FIRST).running()).isEmpty();
    }

    @Test
    void aNodeThatCannotBeFencedIsLeftOnlyWhenItsLeaseIsOver() {
        world.node(World.FIRST).reachable(false);
        OperationId create = session.request(null);
        CompletableFuture<CommandAnswer> creating =
                CompletableFuture.supplyAsync(() -> session.create(create));
        awaitCalls("move", 1);
        assertThat(session.row().nodes).containsExactly(World.FIRST);
        world.store.leaseOver(World.FIRST);

        assertThat(creating.join().node()).isEqualTo(World.SECOND);
        assertThat(session.row().owed).containsExactly(World.FIRST);
    }

    @Test
    void withoutCapacityTheCreationFailsAndTheSessionIsDestroyed() {
        world.store.capacity(List.of());
        CommandAnswer answer = session.create();

        assertThat(answer.error()).isEqualTo(ErrorCode.NO_CAPACITY);
        assertThat(answer.state()).isEqualTo(SessionState.DESTROYED);
        assertThat(session.row().reason.code()).isEqualTo(ReasonCode.START_FAILED);
        world.nothingIsLeftOf(session);
    }

    @Test
    void whereEveryNodeIsAwayTheCreationSaysSo() {
        world.store.capacity(List.of());
        world.store.whyUnplaced = ErrorCode.NODE_AWAY;
        CommandAnswer answer = session.create();

        assertThat(answer.error()).isEqualTo(ErrorCode.NODE_AWAY);
        assertThat(answer.detail()).isEqualTo(ErrorCode.NODE_AWAY.summary());
        assertThat(answer.state()).isEqualTo(SessionState.DESTROYED);
        world.nothingIsLeftOf(session);
    }

    @Test
    void aCreationThatMeetsATombstoneIsGoneAndTheWorkflowRunsDestroy() {
        OperationId create = session.request(null);
        OperationId destroy = session.request(Command.DESTROY);
        CommandAnswer answer = session.create(create);

        assertThat(answer.error()).isEqualTo(ErrorCode.GONE);
        assertThat(session.await(destroy)).isEqualTo(OperationState.DONE);
        assertThat(world.faults.count("start")).isZero();
        world.nothingIsLeftOf(session);
    }

    @Test
    void deleteThatOvertakesCreateStartsTheWorkflowAndDestroys() {
        OperationId create = session.request(null);
        OperationId destroy = session.request(Command.DESTROY);
        session.destroy(destroy);

        assertThat(session.await(destroy)).isEqualTo(OperationState.DONE);
        assertThat(world.store.operation(create).state).isEqualTo(OperationState.REFUSED);
        world.nothingIsLeftOf(session);
    }

    @Test
    void aResumeThatFailsIsPausedAgainWithItsSnapshot() {
        session.create();
        session.run(Command.PAUSE);
        world.faults.script("start", Fault.REFUSED, Fault.REFUSED, Fault.REFUSED);
        assertThat(session.run(Command.RESUME)).isEqualTo(OperationState.FAILED);

        assertThat(session.row().state).isEqualTo(SessionState.PAUSED);
        assertThat(world.node(World.FIRST).running()).isEmpty();
        assertThat(session.run(Command.RESUME)).isEqualTo(OperationState.DONE);
    }

    @Test
    void aPauseThatFailsLeavesItRunning() {
        session.create();
        world.faults.script("pause", Fault.REFUSED);
        assertThat(session.run(Command.PAUSE)).isEqualTo(OperationState.FAILED);
        assertThat(session.row().state).isEqualTo(SessionState.RUNNING);
        assertThat(session.run(Command.PAUSE)).isEqualTo(OperationState.DONE);
    }

    @Test
    void aReleaseThatCannotBeHadBecomesACleanUpThatIsOwed() {
        session.create();
        world.faults.script("release", Fault.REFUSED, Fault.REFUSED, Fault.REFUSED);
        session.destroy();
        session.awaitState(SessionState.DESTROYED);
        assertThat(session.row().owed).containsExactly(World.FIRST);
    }

    @Test
    void manyCommandsContinueAsNewAndKeepTheRecord() {
        session.create();
        String firstRun = session.stub().describe().getExecution().getRunId();
        OperationId remembered = session.request(Command.CHECKPOINT);
        session.submit(remembered, Command.CHECKPOINT, null);
        session.await(remembered);
        for (int i = 0; i <= SessionWorkflowImpl.UPDATES_MAX; i++) {
            assertThat(session.submit(Command.RESUME).error()).isNull();
        }

        assertThat(session.stub().describe().getExecution().getRunId()).isNotEqualTo(firstRun);
        assertThat(session.record().state()).isEqualTo(SessionState.RUNNING);
        assertThat(session.record().newest()).isNotNull();
        assertThat(session.run(Command.PAUSE)).isEqualTo(OperationState.DONE);
    }

    @Test
    void submitRefusesWhatIsNoCommandBeforeItIsRecorded() {
        session.create();
        OperationId operation = session.request(Command.PAUSE);
        org.assertj.core.api.Assertions.assertThatThrownBy(() ->
                        session.begin("submit", operation, SubmitCommand.create(operation))
                                .getResult())
                .rootCause()
                .hasMessageContaining("DESTROY");
    }

    private void awaitState(OperationId operation, OperationState state) {
        assertThat(world.awaitThat(() -> world.store.operation(operation).state == state)).isTrue();
    }

    private void awaitCalls(String step, long count) {
        assertThat(world.awaitThat(() -> world.faults.count(step) >= count)).isTrue();
    }
}
