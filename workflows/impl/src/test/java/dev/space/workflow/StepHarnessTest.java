package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Command;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.SessionState;
import dev.space.model.lifecycle.LifecycleTable;
import dev.space.testkit.FakeDurables;
import dev.space.testkit.FakeNode;
import dev.space.testkit.Faults.Call;
import dev.space.testkit.Faults.Fault;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Finds the calls that each operation makes by running it once, and then runs it again for each
 * call and each fault: refused before its effect, lost before and after it, doubled, and a first
 * attempt that arrives late. Then for each call with an undo the undo is doubled. Whatever
 * happened, the session can be destroyed and nothing of it is left.
 */
final class StepHarnessTest {

    /** An operation; a CHECKPOINT is driven twice, alone and with its upload. */
    private record Deed(OperationKind kind, boolean stored) {

        static final Deed STORED_CHECKPOINT = new Deed(OperationKind.CHECKPOINT, true);

        static Deed of(OperationKind kind) {
            return new Deed(kind, false);
        }

        @Override
        public String toString() {
            return kind + (stored ? " that is stored" : "");
        }
    }

    /** The test server grows with its workflows: after so many cases a new one is taken. */
    private static final int CASES_OF_A_WORLD = 40;

    private static @Nullable World shared;
    private static int cases;

    private static World world() {
        World world = shared;
        if (world == null || cases++ % CASES_OF_A_WORLD == 0) {
            close();
            world = World.calm();
            shared = world;
        }
        world.faults.calm(); // whatever the case before it left
        world.store.capacity(List.of(World.FIRST, World.SECOND));
        return world;
    }

    @AfterAll
    static void close() {
        World world = shared;
        if (world != null) {
            world.close();
            shared = null;
        }
    }

    @TestFactory
    Stream<DynamicTest> everyCallOfEveryOperationWithEveryFault() {
        List<DynamicTest> tests = new ArrayList<>();
        List<Deed> deeds =
                new ArrayList<>(LifecycleTable.AVAILABLE.stream().sorted().map(Deed::of).toList());
        deeds.add(Deed.STORED_CHECKPOINT);
        for (Deed deed : deeds) {
            for (String step : callsOf(deed)) {
                Arrays.stream(Fault.values())
                        .filter(f -> f != Fault.NONE && f != Fault.HANGS)
                        .forEach(fault ->
                                tests.add(
                                        DynamicTest.dynamicTest(
                                                deed + ", " + step + " is " + fault,
                                                () -> check(deed, step, fault))));
            }
        }
        return tests.stream();
    }

    @TestFactory
    Stream<DynamicTest> everyUndoRunTwice() {
        return Stream.of(
                        OperationKind.CREATE,
                        OperationKind.RESUME,
                        OperationKind.CHECKPOINT,
                        OperationKind.FORK,
                        OperationKind.ROLLBACK,
                        OperationKind.SUSPEND,
                        OperationKind.RESTORE,
                        OperationKind.RECOVER)
                .map(kind ->
                        DynamicTest.dynamicTest(
                                kind + ", its step refused and its undo doubled",
                                () -> checkUndo(Deed.of(kind))));
    }

    private static Set<String> callsOf(Deed deed) {
        World world = world();
        World.Session session = world.new Session();
        prepare(world, session, deed.kind());
        int before = world.faults.calls().size();
        carryOut(world, session, deed);
        Set<String> steps = new LinkedHashSet<>();
        List<Call> calls = world.faults.calls();
        calls.subList(before, calls.size()).forEach(c -> steps.add(c.step()));
        assertThat(steps).as("calls of " + deed).hasSizeGreaterThanOrEqualTo(3);
        destroyed(world, session);
        return steps;
    }

    private static void check(Deed deed, String step, Fault fault) {
        World world = world();
        World.Session session = world.new Session();
        prepare(world, session, deed.kind());
        world.faults.script(step, fault);
        carryOut(world, session, deed);
        world.nodes().forEach(FakeNode::deliverLate);
        consistent(world, session, deed);
        destroyed(world, session);
    }

    private static void checkUndo(Deed deed) {
        OperationKind kind = deed.kind();
        World world = world();
        World.Session session = world.new Session();
        prepare(world, session, kind);
        Fault[] refused = new Fault[8];
        Arrays.fill(refused, Fault.REFUSED);
        world.faults.script("start", refused);
        world.faults.script("checkpoint", Fault.REFUSED);
        world.faults.script("upload", refused);
        String undo =
                switch (kind) {
                    case CREATE -> "release";
                    case CHECKPOINT, FORK -> "delete snapshot";
                    default -> "end";
                };
        world.faults.script(undo, Fault.DOUBLED, Fault.DOUBLED);
        int before = world.faults.calls().size();
        carryOut(world, session, deed);
        List<Call> calls = world.faults.calls();
        assertThat(calls.subList(before, calls.size()))
                .anyMatch(c -> c.step().equals(undo) && c.fault() == Fault.DOUBLED);
        consistent(world, session, deed);
        assertThat(session.row().state)
                .isEqualTo(
                        switch (kind) {
                            case CREATE -> SessionState.DESTROYED;
                            case RESUME, ROLLBACK, SUSPEND -> SessionState.PAUSED;
                            case RESTORE -> SessionState.SUSPENDED;
                            case CHECKPOINT, FORK -> SessionState.RUNNING;
                            default -> SessionState.FAILED;
                        });
        destroyed(world, session);
    }

    private static void prepare(World world, World.Session session, OperationKind kind) {
        if (kind != OperationKind.CREATE) {
            session.create();
        }
        if (kind == OperationKind.RESUME) {
            session.run(Command.PAUSE);
        }
        if (kind == OperationKind.RESTORE) {
            session.run(Command.SUSPEND);
            world.store.capacity(List.of(World.SECOND)); // where it has to be downloaded
        }
        if (kind == OperationKind.RECOVER || kind == OperationKind.ROLLBACK) {
            session.run(Command.CHECKPOINT);
        }
    }

    private static void carryOut(World world, World.Session session, Deed deed) {
        switch (deed.kind()) {
            case CREATE -> session.create();
            case PAUSE -> session.run(Command.PAUSE);
            case RESUME -> session.run(Command.RESUME);
            case CHECKPOINT -> checkpoint(world, session, deed.stored());
            case SUSPEND -> session.run(Command.SUSPEND);
            case RESTORE -> session.run(Command.RESTORE);
            case FORK -> Forks.sendCreations(world, Forks.run(world, session, 2, null));
            case ROLLBACK ->
                    Rollbacks.run(world, session, session.row().snapshots.getFirst().id(), false);
            case RECOVER -> {
                session.crash();
                session.awaitRecovered();
            }
            case DESTROY -> {
                session.destroy();
                session.awaitState(SessionState.DESTROYED);
            }
            default -> throw new AssertionError("no way to carry out " + deed);
        }
    }

    private static void checkpoint(World world, World.Session session, boolean stored) {
        OperationId operation = session.request(Command.CHECKPOINT);
        world.store.operation(operation).durable = stored;
        session.submit(operation, Command.CHECKPOINT, null);
        session.await(operation);
    }

    /** What runs is what the row says, once, and what is listed is there. */
    private static void consistent(World world, World.Session session, Deed deed) {
        List<FakeNode.Vm> running =
                world.nodes().stream()
                        .flatMap(n -> n.running().stream())
                        .filter(vm -> vm.session().equals(session.id))
                        .toList();
        if (session.row().state == SessionState.RUNNING) {
            assertThat(running).hasSize(1);
            assertThat(running.getFirst().start()).isEqualTo(session.row().vm);
        } else {
            assertThat(running).isEmpty();
        }
        if (session.row().state != SessionState.DESTROYED) {
            Set<Object> there = new LinkedHashSet<>();
            world.nodes()
                    .forEach(n -> n.snapshots(session.id).forEach(s -> there.add(s.snapshot())));
            Set<Object> listed = new LinkedHashSet<>();
            session.row().snapshots.forEach(s -> listed.add(s.id()));
            assertThat(there).isEqualTo(listed);
            world.store.collect(world.bucket);
            boolean stored =
                    session.row().state == SessionState.SUSPENDED
                            || deed.kind() == OperationKind.RESTORE
                            || (deed.stored() && isComplete(session));
            assertThat(world.bucket.keys()).as("what is stored").hasSize(stored ? 1 : 0);
        }
        Forks.of(world, session).forEach(fork -> Forks.eachIsWholeOrGone(world, fork));
    }

    /** Its row says so; the workflow hears of it a moment later. */
    private static boolean isComplete(World.Session session) {
        return session.row().durables.stream()
                .anyMatch(d -> d.state == FakeDurables.State.COMPLETE);
    }

    private static void destroyed(World world, World.Session session) {
        if (session.row().state != SessionState.DESTROYED) {
            session.destroy();
            session.awaitState(SessionState.DESTROYED);
        }
        world.nothingIsLeftOf(session);
        Forks.of(world, session).forEach(fork -> Forks.eachIsWholeOrGone(world, fork));
        Forks.of(world, session).forEach(fork -> Forks.destroyChildren(world, fork));
    }
}
