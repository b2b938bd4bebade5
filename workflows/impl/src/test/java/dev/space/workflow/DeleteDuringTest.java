package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Command;
import dev.space.model.OperationId;
import dev.space.model.OperationState;
import dev.space.model.SessionState;
import dev.space.testkit.Faults.Fault;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A DELETE while any other operation is half way: its step was carried out but nobody heard of it,
 * or never reached its node, and it is being tried again. CREATE and FORK have tests of their own
 * ({@link SessionRacesTest}, {@link SessionForkTest}).
 */
final class DeleteDuringTest {

    /**
     * More than the operation tries before it gives up: it is still at it when the DELETE comes.
     */
    private static final int TRIES = 6;

    private final World world = World.calm();
    private final World.Session session = world.new Session();

    @AfterEach
    void close() {
        world.close();
    }

    /** An operation, what must be done before it, and the step it is met at. */
    record Met(Command command, List<Command> before, String step, Fault fault) {}

    static Stream<Met> everyOperationHalfWay() {
        return Stream.of(Fault.ANSWER_LOST, Fault.CALL_LOST)
                .flatMap(fault ->
                        Stream.of(
                                new Met(Command.PAUSE, List.of(), "pause", fault),
                                new Met(Command.CHECKPOINT, List.of(), "checkpoint", fault),
                                new Met(Command.RESUME, List.of(Command.PAUSE), "start", fault),
                                new Met(
                                        Command.ROLLBACK,
                                        List.of(Command.CHECKPOINT),
                                        "start",
                                        fault),
                                new Met(Command.SUSPEND, List.of(), "pause", fault),
                                new Met(Command.SUSPEND, List.of(), "upload", fault),
                                new Met(
                                        Command.RESTORE,
                                        List.of(Command.SUSPEND),
                                        "start",
                                        fault)));
    }

    @ParameterizedTest
    @MethodSource("everyOperationHalfWay")
    void endsDestroyedWithNothingLeft(Met met) {
        session.create();
        met.before()
                .forEach(
                        command -> assertThat(session.run(command)).isEqualTo(OperationState.DONE));
        Fault[] faults = new Fault[TRIES];
        Arrays.fill(faults, met.fault());
        world.faults.script(met.step(), faults);
        OperationId operation =
                met.command() == Command.ROLLBACK
                        ? Rollbacks.request(
                                world, session, session.row().snapshots.getFirst().id(), false)
                        : session.request(met.command());
        session.submit(operation, met.command(), null);

        session.destroy();

        session.awaitState(SessionState.DESTROYED);
        assertThat(world.store.operation(operation).state.ended()).isTrue();
        world.nodes().forEach(node -> node.deliverLate());
        world.nothingIsLeftOf(session);
    }
}
