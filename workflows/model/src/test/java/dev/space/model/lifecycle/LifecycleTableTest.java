package dev.space.model.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.OperationKind;
import dev.space.model.SessionEvent;
import dev.space.model.SessionState;
import dev.space.model.lifecycle.Decision.Already;
import dev.space.model.lifecycle.Decision.Cancel;
import dev.space.model.lifecycle.Decision.Go;
import dev.space.model.lifecycle.Decision.Join;
import dev.space.model.lifecycle.Decision.Refuse;
import dev.space.model.lifecycle.Decision.Wait;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * States the whole table a second time, as text, and compares every cell. {@code >X} go, {@code =}
 * already, {@code J} join, {@code W} wait, {@code C} cancel, {@code S} supersede, {@code !X}
 * refuse; {@code cond?cell:cell} depends on a fact.
 */
final class LifecycleTableTest {

    private static final LifecycleTable TABLE = LifecycleTable.STANDARD;

    private static final String STABLE =
            """
            NEW !NOT_READY W !NOT_READY !NOT_READY !NOT_READY !NOT_READY !NOT_READY !NOT_READY W >DESTROY
            WARM !NOT_FOUND !NOT_FOUND !NOT_FOUND !NOT_FOUND !NOT_FOUND !NOT_FOUND !NOT_FOUND \
            !NOT_FOUND !NOT_FOUND >DESTROY
            RUNNING >PAUSE = >CHECKPOINT >FORK >ROLLBACK >SUSPEND = !NOT_FAILED = >DESTROY
            PAUSED = >RESUME >CHECKPOINT >FORK >ROLLBACK >SUSPEND >RESUME !NOT_FAILED \
            AUTO_RESUME?>RESUME:!SESSION_PAUSED >DESTROY
            SUSPENDED = >RESTORE >CHECKPOINT >FORK >ROLLBACK = >RESTORE !NOT_FAILED \
            AUTO_RESUME?>RESTORE:!SESSION_SUSPENDED >DESTROY
            FAILED !SESSION_FAILED >RECOVER !SESSION_FAILED \
            SNAPSHOT_LEFT?>FORK:!SESSION_FAILED >ROLLBACK !SESSION_FAILED >RECOVER >RECOVER \
            !SESSION_FAILED >DESTROY
            DESTROYED !GONE !GONE !GONE !GONE !GONE !GONE !GONE !GONE !GONE =
            """;

    private static final String IN_FLIGHT =
            """
            PREPARE !NOT_FOUND !NOT_FOUND !NOT_FOUND !NOT_FOUND !NOT_FOUND !NOT_FOUND \
            !NOT_FOUND !NOT_FOUND !NOT_FOUND S
            CREATE W J W W !OPERATION_IN_PROGRESS W J W W S
            BIND W J W W !OPERATION_IN_PROGRESS W J W W S
            PAUSE J W W W W W W W AUTO_RESUME?W:!SESSION_PAUSED S
            RESUME W J W W W W J W W S
            CHECKPOINT C = SAME_KEY?J:W W C C = W VM_RUNS?=:W S
            FORK W W W SAME_KEY?J:W W W W W VM_RUNS?=:W S
            ROLLBACK W J W W SAME_KEY?J:!OPERATION_IN_PROGRESS W J J W S
            SUSPEND PUBLISHED?=:W C W W C J C W AUTO_RESUME?C:!SESSION_SUSPENDED S
            RESTORE W J W W !OPERATION_IN_PROGRESS C J J W S
            RECOVER W J W W W W J J W S
            DESTROY !GONE !GONE !GONE !GONE !GONE !GONE !GONE !GONE !GONE J
            """;

    static Stream<Arguments> cells() {
        Stream<Arguments> stable =
                STABLE.lines()
                        .map(l -> l.split(" "))
                        .flatMap(row ->
                                Arrays.stream(Command.values())
                                        .map(c ->
                                                Arguments.of(
                                                        SessionState.valueOf(row[0]),
                                                        null,
                                                        c,
                                                        cellOf(row, c))));
        Stream<Arguments> inFlight =
                IN_FLIGHT
                        .lines()
                        .map(l -> l.split(" "))
                        .flatMap(row ->
                                Arrays.stream(Command.values())
                                        .map(c -> inFlight(row, c, cellOf(row, c))));
        return Stream.concat(stable, inFlight);
    }

    private static Arguments inFlight(String[] row, Command command, String cell) {
        OperationKind kind = OperationKind.valueOf(row[0]);
        SessionState from = TABLE.operation(kind).from().iterator().next();
        return Arguments.of(from, kind, command, cell);
    }

    private static String cellOf(String[] row, Command command) {
        int column = Arrays.asList(Command.values()).indexOf(command);
        assertThat(row).hasSize(Command.values().length + 1);
        return row[column + 1];
    }

    @ParameterizedTest(name = "{0} {1} {2}: {3}")
    @MethodSource("cells")
    void everyCellIsAsStated(
            SessionState state, @Nullable OperationKind inFlight, Command command, String cell) {
        if (!cell.contains("?")) {
            for (Fact fact : Fact.values()) {
                check(state, inFlight, command, EnumSet.of(fact), cell);
            }
            check(state, inFlight, command, EnumSet.noneOf(Fact.class), cell);
            return;
        }
        Fact fact = Fact.valueOf(cell.substring(0, cell.indexOf('?')));
        String rest = cell.substring(cell.indexOf('?') + 1);
        int colon = rest.indexOf(':');
        check(state, inFlight, command, EnumSet.of(fact), rest.substring(0, colon));
        check(
                state,
                inFlight,
                command,
                EnumSet.complementOf(EnumSet.of(fact)),
                rest.substring(colon + 1));
    }

    private static void check(
            SessionState state,
            @Nullable OperationKind inFlight,
            Command command,
            Set<Fact> facts,
            String expected) {
        Decision decision = TABLE.decide(new Situation(state, inFlight, 7, facts), command);
        assertThat(decision).isEqualTo(expected(facts, expected));
    }

    private static Decision expected(Set<Fact> facts, String text) {
        return switch (text.charAt(0)) {
            case '>' -> new Go(OperationKind.valueOf(text.substring(1)));
            case '=' -> new Already();
            case 'J' -> new Join();
            case 'W' -> new Wait();
            case 'S' -> new Decision.Supersede(OperationKind.DESTROY);
            case 'C' -> facts.contains(Fact.CANCELLABLE) ? new Cancel() : new Wait();
            case '!' -> new Refuse(ErrorCode.valueOf(text.substring(1)));
            default -> throw new IllegalArgumentException(text);
        };
    }

    @Test
    void everyEventHasAnEffectEverywhereAndNoneOnWhatIsDestroyed() {
        for (SessionEvent event : SessionEvent.values()) {
            for (SessionState state : SessionState.values()) {
                assertThat(TABLE.decide(Situation.of(state), event)).isNotNull();
            }
            for (OperationKind kind : OperationKind.values()) {
                SessionState from = TABLE.operation(kind).from().iterator().next();
                assertThat(TABLE.decide(Situation.of(from, kind), event)).isNotNull();
            }
            assertThat(TABLE.decide(Situation.of(SessionState.DESTROYED), event))
                    .isEqualTo(EventEffect.IGNORE);
        }
    }

    @Test
    void exitsOfRunningRecoverAndThoseOfStoredSessionsDoNothing() {
        assertThat(TABLE.decide(Situation.of(SessionState.RUNNING), SessionEvent.VM_EXITED))
                .isEqualTo(EventEffect.RECOVER);
        assertThat(TABLE.decide(Situation.of(SessionState.PAUSED), SessionEvent.VM_EXITED))
                .isEqualTo(EventEffect.IGNORE);
        assertThat(
                        TABLE.decide(
                                Situation.of(SessionState.RUNNING, OperationKind.PAUSE),
                                SessionEvent.VM_EXITED))
                .isEqualTo(EventEffect.HOLD);
    }

    @Test
    void whatIsIdleEvenThoughItIsPausedIsSuspended() {
        assertThat(TABLE.decide(Situation.of(SessionState.RUNNING), SessionEvent.IDLE))
                .isEqualTo(EventEffect.PAUSE);
        assertThat(TABLE.decide(Situation.of(SessionState.PAUSED), SessionEvent.IDLE))
                .isEqualTo(EventEffect.SUSPEND);
    }

    @Test
    void whatRunsOnAFullNodeIsPaused() {
        assertThat(TABLE.decide(Situation.of(SessionState.RUNNING), SessionEvent.NODE_FULL))
                .isEqualTo(EventEffect.PAUSE);
        assertThat(TABLE.decide(Situation.of(SessionState.PAUSED), SessionEvent.NODE_FULL))
                .isEqualTo(EventEffect.IGNORE);
        assertThat(
                        TABLE.decide(
                                Situation.of(SessionState.RUNNING, OperationKind.CHECKPOINT),
                                SessionEvent.NODE_FULL))
                .isEqualTo(EventEffect.HOLD);
    }

    @Test
    void createIsDecidedOnceAndNeverAfterDestroy() {
        assertThat(TABLE.decideBirth(Situation.of(SessionState.NEW), OperationKind.CREATE))
                .isEqualTo(new Go(OperationKind.CREATE));
        assertThat(
                        TABLE.decideBirth(
                                Situation.of(SessionState.NEW, OperationKind.CREATE),
                                OperationKind.CREATE))
                .isEqualTo(new Join());
        assertThat(
                        TABLE.decideBirth(
                                Situation.of(SessionState.NEW, OperationKind.DESTROY),
                                OperationKind.CREATE))
                .isEqualTo(new Refuse(ErrorCode.GONE));
        assertThat(TABLE.decideBirth(Situation.of(SessionState.RUNNING), OperationKind.CREATE))
                .isEqualTo(new Refuse(ErrorCode.ALREADY_EXISTS));
        assertThat(TABLE.decideBirth(Situation.of(SessionState.WARM), OperationKind.BIND))
                .isEqualTo(new Refuse(ErrorCode.NOT_AVAILABLE));
    }

    @Test
    void anImpossibleSituationIsAnInvariantErrorThatNamesIt() {
        Situation impossible =
                new Situation(SessionState.PAUSED, OperationKind.CREATE, 42, Set.of());
        assertThatThrownBy(() -> TABLE.decide(impossible, Command.PAUSE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll("PAUSED", "CREATE", "42", "PAUSE");
    }

    @Test
    void allowedNamesWhatIsNotRefused() {
        assertThat(TABLE.allowed(Situation.of(SessionState.PAUSED)))
                .containsExactly(
                        Command.PAUSE,
                        Command.RESUME,
                        Command.CHECKPOINT,
                        Command.FORK,
                        Command.ROLLBACK,
                        Command.SUSPEND,
                        Command.RESTORE,
                        Command.DESTROY);
        assertThat(TABLE.allowed(Situation.of(SessionState.DESTROYED)))
                .containsExactly(Command.DESTROY);
    }

    @Test
    void buildingRefusesARowTwiceAShortRowAndAMissingOne() {
        Cell[] row = new Cell[Command.values().length];
        Arrays.fill(row, Cell.waits());
        assertThatThrownBy(() ->
                        LifecycleTable.builder()
                                .state(SessionState.NEW, row)
                                .state(SessionState.NEW, row))
                .hasMessageContaining("twice");
        assertThatThrownBy(() -> LifecycleTable.builder().state(SessionState.NEW, Cell.waits()))
                .hasMessageContaining("has 1 cells");
        assertThatThrownBy(() -> LifecycleTable.builder().state(SessionState.NEW, row).build())
                .hasMessageContaining("missing");
    }

    @Test
    void buildingRefusesAWayOutOfDestroyed() {
        assertThatThrownBy(() -> everythingIs(Cell.go(OperationKind.RESUME)).build())
                .hasMessageContaining("DESTROYED");
        assertThatThrownBy(() -> everythingIs(Cell.supersede()).build())
                .hasMessageContaining("DESTROYED");
        assertThat(everythingIs(Cell.already()).build()).isNotNull();
    }

    private static LifecycleTable.Builder everythingIs(Cell cell) {
        LifecycleTable.Builder table = LifecycleTable.builder();
        Cell[] row = new Cell[Command.values().length];
        Arrays.fill(row, cell);
        EventEffect[] nothing = new EventEffect[SessionEvent.values().length];
        Arrays.fill(nothing, EventEffect.IGNORE);
        for (SessionState state : SessionState.values()) {
            table.state(state, row).events(state, nothing);
        }
        for (OperationKind kind : OperationKind.values()) {
            table.inFlight(kind, row).events(kind, nothing);
            table.operation(kind, Set.of(SessionState.NEW), null, null, false, "");
        }
        return table;
    }
}
