package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Command;
import dev.space.model.OperationKind;
import dev.space.model.SessionEvent;
import dev.space.model.SessionState;
import dev.space.model.lifecycle.Decision;
import dev.space.model.lifecycle.EventEffect;
import dev.space.model.lifecycle.Fact;
import dev.space.model.lifecycle.LifecycleTable;
import dev.space.model.lifecycle.OperationRow;
import dev.space.model.lifecycle.Situation;
import dev.space.testkit.Sequences;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Random walks through the table alone, without a workflow. */
final class LifecyclePropertyTest {

    private static final int SEEDS = 5_000;
    private static final LifecycleTable TABLE = LifecycleTable.STANDARD;

    private sealed interface Act {
        record Ask(Command command, Set<Fact> facts) implements Act {}

        record Happens(SessionEvent event) implements Act {}

        record Born(OperationKind kind) implements Act {}

        record Ends(boolean well) implements Act {}
    }

    @Test
    void theTableHoldsOnEveryWalk() {
        Sequences<Act> walks =
                new Sequences<>(60, 2_000, LifecyclePropertyTest::act, (_, acts) -> walk(acts));
        for (long seed = 0; seed < SEEDS; seed++) {
            walks.verify(
                    seed,
                    "mvn -pl workflows/impl -am test -Dtest=LifecyclePropertyTest (all seeds)");
        }
    }

    private static Act act(Random r) {
        return switch (r.nextInt(5)) {
            case 0 -> new Act.Happens(pick(r, SessionEvent.values()));
            case 1 -> new Act.Ends(r.nextInt(4) > 0);
            case 2 -> new Act.Born(pick(r, OperationKind.CREATE, OperationKind.BIND));
            default -> new Act.Ask(pick(r, Command.values()), facts(r));
        };
    }

    private static Set<Fact> facts(Random r) {
        Set<Fact> facts = EnumSet.noneOf(Fact.class);
        for (Fact fact : Fact.values()) {
            if (r.nextBoolean()) {
                facts.add(fact);
            }
        }
        return facts;
    }

    @SafeVarargs
    private static <T> T pick(Random r, T... from) {
        return from[r.nextInt(from.length)];
    }

    private static void walk(List<Act> acts) {
        Walk walk = new Walk();
        acts.forEach(walk::step);
    }

    private static final class Walk {
        private SessionState state = SessionState.NEW;
        private @Nullable OperationKind inFlight;
        private boolean destroyAsked;

        void step(Act act) {
            boolean over = state == SessionState.DESTROYED;
            switch (act) {
                case Act.Ask(Command command, Set<Fact> facts) -> ask(command, facts);
                case Act.Happens(SessionEvent event) -> happens(event);
                case Act.Born(OperationKind kind) -> born(kind);
                case Act.Ends(boolean well) -> ends(well);
            }
            if (over) {
                assertThat(state).as("after DESTROYED").isEqualTo(SessionState.DESTROYED);
                assertThat(inFlight).as("in flight after DESTROYED").isNull();
            }
            boolean gaveWay = destroyAsked && inFlight != OperationKind.DESTROY;
            assertThat(gaveWay && state != SessionState.DESTROYED)
                    .as("DESTROY gave way to %s in %s", inFlight, state)
                    .isFalse();
        }

        private void ask(Command command, Set<Fact> facts) {
            Decision decision = TABLE.decide(new Situation(state, inFlight, 1, facts), command);
            switch (decision) {
                case Decision.Go(OperationKind kind) -> {
                    assertThat(inFlight).as("Go while one runs").isNull();
                    starts(kind);
                }
                case Decision.Supersede(OperationKind kind) -> {
                    assertThat(inFlight).as("Supersede of nothing").isNotNull();
                    starts(kind);
                }
                case Decision.Wait _, Decision.Join _, Decision.Cancel _ ->
                        assertThat(state == SessionState.NEW || inFlight != null)
                                .as("%s for nothing in %s", decision, state)
                                .isTrue();
                case Decision.Refuse _ ->
                        assertThat(command == Command.DESTROY).as("DESTROY refused").isFalse();
                case Decision.Already _ -> {}
            }
            boolean gone = state == SessionState.DESTROYED && command != Command.DESTROY;
            assertThat(gone && !(decision instanceof Decision.Refuse))
                    .as("%s on DESTROYED", decision)
                    .isFalse();
        }

        private void starts(OperationKind kind) {
            assertThat(LifecycleTable.AVAILABLE).contains(kind);
            assertThat(TABLE.operation(kind).from()).contains(state);
            inFlight = kind;
            destroyAsked |= kind == OperationKind.DESTROY;
        }

        private void happens(SessionEvent event) {
            EventEffect effect = TABLE.decide(new Situation(state, inFlight, 1, Set.of()), event);
            if (state == SessionState.DESTROYED) {
                assertThat(effect).isEqualTo(EventEffect.IGNORE);
            }
            if (inFlight == null) {
                assertThat(effect)
                        .isNotIn(EventEffect.HOLD, EventEffect.END_OPERATION, EventEffect.RETRY);
            }
        }

        private void born(OperationKind kind) {
            Decision decision =
                    TABLE.decideBirth(new Situation(state, inFlight, 1, Set.of()), kind);
            if (decision instanceof Decision.Go(OperationKind started)) {
                assertThat(inFlight).isNull();
                starts(started);
            }
        }

        private void ends(boolean well) {
            OperationKind kind = inFlight;
            if (kind == null) {
                return;
            }
            OperationRow row = TABLE.operation(kind);
            SessionState to = well || kind == OperationKind.DESTROY ? row.to() : row.failed();
            state = to == null ? state : to;
            inFlight = null;
        }
    }
}
