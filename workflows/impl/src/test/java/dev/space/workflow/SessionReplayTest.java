package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Command;
import dev.space.model.SessionState;
import dev.space.testkit.Faults.Fault;
import io.temporal.common.WorkflowExecutionHistory;
import io.temporal.testing.TestWorkflowEnvironment;
import io.temporal.testing.WorkflowReplayer;
import io.temporal.worker.Worker;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Today's code replays every history that was ever recorded. {@code -Dhistories.record=1} records
 * the cases that have none yet; a recorded history is never written again.
 */
final class SessionReplayTest {

    private static final Path HISTORIES = Path.of("src/test/resources/histories/SessionWorkflow");

    private record Case(String name, Consumer<World> setUp, Consumer<World.Session> life) {}

    private static final List<Case> CASES =
            List.of(
                    new Case(
                            "1-pause-resume-checkpoint-destroy",
                            _ -> {},
                            session -> {
                                session.create();
                                session.run(Command.PAUSE);
                                session.run(Command.RESUME);
                                session.run(Command.CHECKPOINT);
                                end(session);
                            }),
                    new Case(
                            "1-crash-recover-destroy",
                            _ -> {},
                            session -> {
                                session.create();
                                session.run(Command.CHECKPOINT);
                                session.crash();
                                session.awaitRecovered();
                                end(session);
                            }),
                    new Case(
                            "2-snapshots-named-after-operations",
                            _ -> {},
                            session -> {
                                session.create();
                                session.run(Command.CHECKPOINT);
                                session.run(Command.PAUSE);
                                session.run(Command.RESUME);
                                session.crash();
                                session.awaitRecovered();
                                end(session);
                            }),
                    new Case(
                            "3-suspend-fails-succeeds-restored",
                            world -> {
                                world.faults.script("pause", Fault.REFUSED);
                                world.faults.script("download", Fault.CALL_LOST);
                            },
                            session -> {
                                session.create();
                                session.run(Command.SUSPEND); // fails before it is published
                                session.run(Command.SUSPEND);
                                session.run(Command.RESTORE);
                                session.run(Command.PAUSE);
                                session.run(Command.SUSPEND);
                                session.run(Command.RESUME);
                                end(session);
                            }),
                    new Case(
                            "4-started-ahead",
                            _ -> {},
                            session -> {
                                session.create();
                                session.run(Command.PAUSE);
                                end(session);
                            }),
                    new Case(
                            "1-create-moves-and-pause-fails",
                            world -> {
                                world.faults.script("start", Fault.REFUSED, Fault.REFUSED);
                                world.faults.script("pause", Fault.REFUSED);
                            },
                            session -> {
                                session.create();
                                session.run(Command.PAUSE);
                                end(session);
                            }));

    @Test
    void everyRecordedHistoryReplays() throws Exception {
        List<Path> files;
        try (Stream<Path> all = Files.list(HISTORIES)) {
            files = all.sorted().toList();
        }
        assertThat(files).hasSizeGreaterThanOrEqualTo(CASES.size());
        for (Path file : files) {
            replay(WorkflowExecutionHistory.fromJson(Files.readString(file)));
        }
    }

    /** Without Temporal's one second for a deadlock, which class loading can take under load. */
    static void replay(WorkflowExecutionHistory history) throws Exception {
        try (TestWorkflowEnvironment server = TestWorkflowEnvironment.newInstance()) {
            Worker worker = server.newWorker("replay", World.workerOptions());
            worker.registerWorkflowImplementationTypes(SessionWorkflowImpl.class);
            WorkflowReplayer.replayWorkflowExecution(history, worker);
        }
    }

    @Test
    @EnabledIfSystemProperty(named = "histories.record", matches = ".+")
    void recordsWhatIsMissing() throws IOException {
        Files.createDirectories(HISTORIES);
        for (Case one : CASES) {
            Path file = HISTORIES.resolve(one.name() + ".json");
            if (!Files.exists(file)) {
                Files.writeString(file, record(one));
            }
        }
    }

    private static String record(Case one) {
        try (World world = new World(dev.space.testkit.Faults.none(), caseSeed(one), true)) {
            one.setUp().accept(world);
            World.Session session = world.new Session();
            if (one.name().endsWith("-ahead")) {
                SessionAheadTest.startAhead(world, session);
            }
            one.life().accept(session);
            session.stub().getResult(Void.class);
            return world.server.getWorkflowClient().fetchHistory(session.id.value()).toJson(true);
        }
    }

    private static long caseSeed(Case one) {
        return Arrays.hashCode(one.name().getBytes(StandardCharsets.UTF_8));
    }

    private static void end(World.Session session) {
        session.destroy();
        session.awaitState(SessionState.DESTROYED);
    }
}
