package dev.space.model.lifecycle;

import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.OperationKind;
import dev.space.model.SessionEvent;
import dev.space.model.SessionState;
import dev.space.model.lifecycle.Decision.Go;
import dev.space.model.lifecycle.Decision.Refuse;
import dev.space.model.lifecycle.Decision.Supersede;
import dev.space.model.lifecycle.Decision.Wait;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The only place that decides what a command or an event does to a session. It is total: building
 * one refuses a missing cell, a cell given twice and a way out of DESTROYED. {@link #STANDARD} is
 * the product's; {@link StandardRows} holds its content.
 */
public final class LifecycleTable {

    /** Operations of this release. All others answer NOT_AVAILABLE, and only here. */
    public static final Set<OperationKind> AVAILABLE =
            Set.copyOf(
                    EnumSet.of(
                            OperationKind.CREATE,
                            OperationKind.PAUSE,
                            OperationKind.RESUME,
                            OperationKind.CHECKPOINT,
                            OperationKind.FORK,
                            OperationKind.ROLLBACK,
                            OperationKind.SUSPEND,
                            OperationKind.RESTORE,
                            OperationKind.RECOVER,
                            OperationKind.DESTROY));

    public static final LifecycleTable STANDARD = StandardRows.build();

    private final Map<SessionState, Map<Command, Cell>> stable;
    private final Map<OperationKind, Map<Command, Cell>> inFlight;
    private final Map<SessionState, Map<SessionEvent, EventEffect>> events;
    private final Map<OperationKind, Map<SessionEvent, EventEffect>> eventsInFlight;
    private final Map<OperationKind, OperationRow> operations;

    private LifecycleTable(Builder from) {
        this.stable = from.stable;
        this.inFlight = from.inFlight;
        this.events = from.events;
        this.eventsInFlight = from.eventsInFlight;
        this.operations = from.operations;
    }

    /** Decides a command. */
    public Decision decide(Situation at, Command command) {
        check(at, command);
        Decision decision = cell(at, command).decide(at.facts());
        if (decision instanceof Decision.Cancel && !at.facts().contains(Fact.CANCELLABLE)) {
            decision =
                    new Wait(); // before publish and from the commit on there is nothing to cancel
        }
        return leadsToAvailable(decision, command) ? decision : new Refuse(ErrorCode.NOT_AVAILABLE);
    }

    /** Decides CREATE or BIND, which are no commands on a session that exists. */
    public Decision decideBirth(Situation at, OperationKind birth) {
        if (at.state() == SessionState.DESTROYED || at.inFlight() == OperationKind.DESTROY) {
            return new Refuse(ErrorCode.GONE);
        }
        if (at.inFlight() == birth) {
            return new Decision.Join();
        }
        if (at.inFlight() != null || !operation(birth).from().contains(at.state())) {
            return new Refuse(ErrorCode.ALREADY_EXISTS);
        }
        return AVAILABLE.contains(birth) ? new Go(birth) : new Refuse(ErrorCode.NOT_AVAILABLE);
    }

    /** Decides an event whose epoch is the current one. */
    public EventEffect decide(Situation at, SessionEvent event) {
        check(at, event);
        OperationKind operation = at.inFlight();
        EventEffect effect = operation == null ? event(at.state(), event) : event(operation, event);
        boolean suspends = effect == EventEffect.SUSPEND;
        return suspends && !AVAILABLE.contains(OperationKind.SUSPEND) ? EventEffect.IGNORE : effect;
    }

    public OperationRow operation(OperationKind kind) {
        return at(operations, kind);
    }

    public Cell stableCell(SessionState state, Command command) {
        return at(at(stable, state), command);
    }

    public Cell inFlightCell(OperationKind operation, Command command) {
        return at(at(inFlight, operation), command);
    }

    EventEffect event(SessionState state, SessionEvent event) {
        return at(at(events, state), event);
    }

    EventEffect event(OperationKind operation, SessionEvent event) {
        return at(at(eventsInFlight, operation), event);
    }

    /** The commands that would not be refused here. */
    public List<Command> allowed(Situation at) {
        return Arrays.stream(Command.values())
                .filter(c -> !(decide(at, c) instanceof Refuse))
                .toList();
    }

    private Cell cell(Situation at, Command command) {
        OperationKind operation = at.inFlight();
        return operation == null
                ? stableCell(at.state(), command)
                : inFlightCell(operation, command);
    }

    private boolean leadsToAvailable(Decision decision, Command command) {
        return switch (decision) {
            case Go(OperationKind kind) -> AVAILABLE.contains(kind);
            case Supersede(OperationKind kind) -> AVAILABLE.contains(kind);
            // waiting for what can only be refused then would waste the caller's time
            case Wait _ -> command == Command.DATA_PLANE || canEverGo(command);
            default -> true;
        };
    }

    private boolean canEverGo(Command command) {
        return stable.values().stream()
                .flatMap(row -> at(row, command).outcomes())
                .anyMatch(d -> d instanceof Go(OperationKind kind) && AVAILABLE.contains(kind));
    }

    private void check(Situation at, Enum<?> input) {
        OperationKind operation = at.inFlight();
        if (operation != null && !operation(operation).from().contains(at.state())) {
            throw new IllegalStateException(
                    "invariant: "
                            + operation
                            + " cannot be in flight in state "
                            + at.state()
                            + ", epoch "
                            + at.epoch()
                            + ", input "
                            + input);
        }
    }

    /** Building the table made sure that there is one. */
    private static <K, V> V at(Map<K, V> map, K key) {
        return Objects.requireNonNull(map.get(key), () -> "no cell for " + key);
    }

    static Builder builder() {
        return new Builder();
    }

    /** Collects rows and refuses what would make the table partial, ambiguous or undead. */
    static final class Builder {

        private final Map<SessionState, Map<Command, Cell>> stable =
                new EnumMap<>(SessionState.class);
        private final Map<OperationKind, Map<Command, Cell>> inFlight =
                new EnumMap<>(OperationKind.class);
        private final Map<SessionState, Map<SessionEvent, EventEffect>> events =
                new EnumMap<>(SessionState.class);
        private final Map<OperationKind, Map<SessionEvent, EventEffect>> eventsInFlight =
                new EnumMap<>(OperationKind.class);
        private final Map<OperationKind, OperationRow> operations =
                new EnumMap<>(OperationKind.class);

        private Builder() {}

        /** Cells in the order of {@link Command}. */
        Builder state(SessionState state, Cell... cells) {
            put(stable, state, zip(Command.class, state, cells));
            return this;
        }

        Builder inFlight(OperationKind operation, Cell... cells) {
            put(inFlight, operation, zip(Command.class, operation, cells));
            return this;
        }

        /** Effects in the order of {@link SessionEvent}. */
        Builder events(SessionState state, EventEffect... effects) {
            put(events, state, zip(SessionEvent.class, state, effects));
            return this;
        }

        Builder events(OperationKind operation, EventEffect... effects) {
            put(eventsInFlight, operation, zip(SessionEvent.class, operation, effects));
            return this;
        }

        Builder operation(
                OperationKind kind,
                Set<SessionState> from,
                @Nullable SessionState to,
                @Nullable SessionState failed,
                boolean startsVm,
                String noReturn) {
            put(operations, kind, new OperationRow(kind, from, to, failed, startsVm, noReturn));
            return this;
        }

        LifecycleTable build() {
            complete(stable, SessionState.class);
            complete(events, SessionState.class);
            complete(inFlight, OperationKind.class);
            complete(eventsInFlight, OperationKind.class);
            complete(operations, OperationKind.class);
            refuseExitFromDestroyed();
            return new LifecycleTable(this);
        }

        private void refuseExitFromDestroyed() {
            boolean exit =
                    at(stable, SessionState.DESTROYED).values().stream()
                                    .flatMap(Cell::outcomes)
                                    .anyMatch(d -> d instanceof Go || d instanceof Supersede)
                            || at(events, SessionState.DESTROYED).values().stream()
                                    .anyMatch(e -> e != EventEffect.IGNORE)
                            || operations.values().stream()
                                    .anyMatch(o -> o.from().contains(SessionState.DESTROYED))
                            || at(inFlight, OperationKind.DESTROY).values().stream()
                                    .flatMap(Cell::outcomes)
                                    .anyMatch(d ->
                                            d instanceof Decision.Cancel
                                                    || d instanceof Supersede
                                                    || d instanceof Go);
            if (exit) {
                throw new IllegalStateException("there is a way out of DESTROYED");
            }
        }

        private static <K extends Enum<K>, V> Map<K, V> zip(
                Class<K> columns, Object row, V[] cells) {
            K[] keys = columns.getEnumConstants();
            if (keys.length != cells.length) {
                throw new IllegalStateException(
                        "row " + row + " has " + cells.length + " cells, not " + keys.length);
            }
            Map<K, V> out = new EnumMap<>(columns);
            for (int i = 0; i < keys.length; i++) {
                out.put(keys[i], cells[i]);
            }
            return out;
        }

        private static <K, V> void put(Map<K, V> into, K key, V value) {
            if (into.putIfAbsent(key, value) != null) {
                throw new IllegalStateException("row " + key + " is there twice");
            }
        }

        private static <K extends Enum<K>> void complete(Map<K, ?> rows, Class<K> keys) {
            Set<K> missing = EnumSet.allOf(keys);
            missing.removeAll(rows.keySet());
            if (!missing.isEmpty()) {
                throw new IllegalStateException("rows are missing: " + missing);
            }
        }
    }
}
