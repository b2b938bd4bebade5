package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.contract.session.RecoveryPolicy;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.Command;
import dev.space.model.Ids;
import dev.space.model.OperationKind;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;
import dev.space.model.lifecycle.Decision;
import dev.space.model.lifecycle.LifecycleTable;
import dev.space.testkit.FakeStore;
import dev.space.testkit.FakeStore.GoCell;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Drives every Go cell of an available operation through the workflow. The cells are found in the
 * table, so one that becomes available fails here until the workflow can run it.
 */
final class LifecycleCellsTest {

    static Stream<GoCell> goCells() {
        LifecycleTable table = LifecycleTable.STANDARD;
        return Arrays.stream(SessionState.values())
                .flatMap(state ->
                        Arrays.stream(Command.values())
                                .flatMap(command ->
                                        table.stableCell(state, command)
                                                .outcomes()
                                                .flatMap(d -> go(state, command, d))));
    }

    private static Stream<GoCell> go(SessionState state, Command command, Decision decision) {
        return decision instanceof Decision.Go(OperationKind kind)
                        && LifecycleTable.AVAILABLE.contains(kind)
                ? Stream.of(new GoCell(state, command, kind))
                : Stream.empty();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("goCells")
    void everyGoCellOfAnAvailableOperationIsDriven(GoCell cell) {
        try (World world = World.calm()) {
            World.Session session = world.new Session();
            bring(session, cell.state());
            if (cell.command() == Command.DESTROY) {
                session.destroy();
                session.awaitState(SessionState.DESTROYED);
            } else if (cell.command() == Command.ROLLBACK) {
                Rollbacks.run(world, session, somethingToGoBackTo(session), true);
            } else if (cell.command() == Command.FORK) {
                Forks.run(world, session, 1, null);
            } else {
                session.run(cell.command());
            }
            assertThat(FakeStore.visited()).contains(cell);
            assertThat(world.store.operations(session.id).getLast().kind).isEqualTo(cell.kind());
        }
    }

    private static SnapshotId somethingToGoBackTo(World.Session session) {
        if (session.row().state == SessionState.RUNNING) {
            session.run(Command.CHECKPOINT);
        }
        if (session.row().snapshots.isEmpty()) {
            SnapshotId id = new SnapshotId(Ids.text(SnapshotId.PREFIX, new byte[Ids.RANDOM_BYTES]));
            session.row()
                    .snapshots
                    .add(new SnapshotRef(id, SnapshotKind.FULL, World.FIRST, 1, 1, 1, 1));
        }
        return session.row().snapshots.getFirst().id();
    }

    private static void bring(World.Session session, SessionState state) {
        switch (state) {
            case NEW -> {}
            case WARM -> session.restored(SessionState.WARM);
            case SUSPENDED -> {
                session.create();
                session.run(Command.SUSPEND);
            }
            case RUNNING -> session.create();
            case PAUSED -> {
                session.create();
                session.run(Command.PAUSE);
            }
            case FAILED -> {
                session.recovery(new RecoveryPolicy(0, 1)).create();
                session.crash();
                session.awaitState(SessionState.FAILED);
            }
            case DESTROYED -> throw new AssertionError("there is no way out of DESTROYED");
        }
    }
}
