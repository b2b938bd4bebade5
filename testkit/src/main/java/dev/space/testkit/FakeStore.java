package dev.space.testkit;

import dev.space.contract.control.AcceptAnswer;
import dev.space.contract.control.AcceptOperation;
import dev.space.contract.control.CommitAnswer;
import dev.space.contract.control.CommitOperation;
import dev.space.contract.control.ControlActivities;
import dev.space.contract.control.EndOperations;
import dev.space.contract.control.MoveAnswer;
import dev.space.contract.control.MoveOperation;
import dev.space.contract.control.RecordSnapshots;
import dev.space.contract.session.DeadlinePolicy;
import dev.space.contract.session.InFlight;
import dev.space.contract.session.Reason;
import dev.space.contract.session.SessionRecord;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.ReasonCode;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SnapshotKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The session's rows with their conditional writes, in memory. */
public final class FakeStore implements ControlActivities {

    /** A session's row. */
    public static final class Session {
        public SessionState state = SessionState.NEW;
        public long epoch;
        public long number;
        public @Nullable String node;
        public @Nullable Fence vm;
        public @Nullable OperationId tombstone;
        public @Nullable DeadlinePolicy deadline;
        public Reason reason = new Reason(ReasonCode.USER, "", 0);
        public final Set<String> nodes = new LinkedHashSet<>();
        public final Set<String> owed = new LinkedHashSet<>();
        public final List<SnapshotRef> snapshots = new ArrayList<>();
        public final Map<String, String> names = new LinkedHashMap<>();
        private long highestNumber;
        private long highestAttempt;
    }

    /** An operation's row. */
    public static final class Operation {
        public final SessionId session;
        public final @Nullable Command command;
        public OperationState state = OperationState.REQUESTED;
        public @Nullable OperationKind kind;
        public @Nullable ErrorCode error;
        public String detail = "";
        public long number;
        public long epoch;
        private long acceptedAtMillis;
        private @Nullable String node;
        private final Map<Long, MoveAnswer> moves = new LinkedHashMap<>();

        private Operation(SessionId session, @Nullable Command command) {
            this.session = session;
            this.command = command;
        }
    }

    /** A cell of the table that led to an operation: where, what was asked, what was started. */
    public record GoCell(SessionState state, Command command, OperationKind kind) {}

    private static final Set<GoCell> VISITED = new LinkedHashSet<>();

    private final Map<SessionId, Session> sessions = new LinkedHashMap<>();
    private final Map<OperationId, Operation> operations = new LinkedHashMap<>();
    private final List<String> placeable = new ArrayList<>();
    private final Set<String> leasesOver = new LinkedHashSet<>();
    private final FaultyCalls calls;

    public FakeStore(Faults faults, List<String> nodes) {
        calls = new FaultyCalls("store", faults, ErrorCode.UNAVAILABLE);
        placeable.addAll(nodes);
    }

    /** All cells that were driven by any store of this JVM. */
    public static Set<GoCell> visited() {
        synchronized (VISITED) {
            return Set.copyOf(VISITED);
        }
    }

    // ------------------------------------------------------------ what the API does

    public synchronized Session insertSession(SessionId id) {
        Session row = new Session();
        sessions.put(id, row);
        return row;
    }

    /** Fails on a tombstone, as the real insert does. */
    public synchronized boolean request(
            SessionId session, OperationId id, @Nullable Command command) {
        Session row = row(session);
        if (row.tombstone != null && command != Command.DESTROY) {
            return false;
        }
        if (command == Command.DESTROY && row.tombstone == null) {
            row.tombstone = id;
        }
        operations.put(id, new Operation(session, command));
        return true;
    }

    public synchronized void leaseOver(String node) {
        leasesOver.add(node);
        placeable.remove(node);
    }

    public synchronized void capacity(List<String> nodes) {
        placeable.clear();
        placeable.addAll(nodes);
    }

    public synchronized Session session(SessionId id) {
        return row(id);
    }

    public synchronized Operation operation(OperationId id) {
        return Objects.requireNonNull(operations.get(id), () -> "no row " + id);
    }

    public synchronized List<Operation> operations(SessionId session) {
        return operations.values().stream().filter(o -> o.session.equals(session)).toList();
    }

    /** Waits until the row has ended; the state it is in when the time is over. */
    public synchronized OperationState awaitEnd(OperationId id, Duration limit)
            throws InterruptedException {
        awaitThat(() -> operation(id).state.ended(), limit);
        return operation(id).state;
    }

    /** Waits until the condition on the rows holds; false when the time is over. */
    public synchronized boolean awaitThat(Supplier<Boolean> condition, Duration limit)
            throws InterruptedException {
        long until = System.nanoTime() + limit.toNanos();
        while (!condition.get()) {
            long left = (until - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                return false;
            }
            wait(left);
        }
        return true;
    }

    // ------------------------------------------------------------ activities

    @Override
    public AcceptAnswer acceptOperation(AcceptOperation request) {
        return call("accept", () -> accept(request));
    }

    @Override
    public MoveAnswer moveOperation(MoveOperation request) {
        return call("move", () -> move(request));
    }

    @Override
    public CommitAnswer recordSnapshots(RecordSnapshots request) {
        return call(
                "record snapshots",
                () -> {
                    Session row = row(request.session());
                    if (fenced(row, request.operation(), request.fence(), false)) {
                        return new CommitAnswer(false, row.tombstone);
                    }
                    request.snapshots().forEach(s -> list(row, s));
                    return new CommitAnswer(true, null);
                });
    }

    @Override
    public CommitAnswer commit(CommitOperation request) {
        return call("commit", () -> write(request));
    }

    @Override
    public void endOperations(EndOperations request) {
        call(
                "end operations",
                () -> {
                    for (EndOperations.Ended ended : request.operations()) {
                        end(ended.operation(), ended.outcome(), ended.error(), ended.detail());
                    }
                    return request;
                });
    }

    @Override
    public @Nullable LoadedSession loadSession(SessionId session) {
        return call(
                "load",
                () -> {
                    Session row = sessions.get(session);
                    return row == null ? null : new LoadedSession(record(row), row.tombstone);
                });
    }

    private <T extends @Nullable Object> T call(String name, Supplier<T> effect) {
        return calls.call(
                name,
                () -> {
                    synchronized (this) {
                        T answer = effect.get();
                        notifyAll();
                        return answer;
                    }
                });
    }

    private AcceptAnswer accept(AcceptOperation r) {
        Session row = row(r.session());
        Operation known = operations.get(r.operation());
        if (known != null && known.state == OperationState.ACCEPTED) {
            return new AcceptAnswer(
                    true, known.number, known.epoch, known.node, null, "", null, null);
        }
        boolean destroy = r.kind() == OperationKind.DESTROY;
        if (row.tombstone != null && !destroy) {
            end(r.operation(), OperationState.REFUSED, ErrorCode.GONE, "tombstone");
            return refused(row, ErrorCode.GONE, row.tombstone);
        }
        if (r.onlyIfDeadlinePassed() && row.deadline != null && r.reason().atMillis() < due(row)) {
            return refused(row, ErrorCode.PRECONDITION_FAILED, null);
        }
        if (known == null) {
            if (!r.automatic()) {
                return refused(row, ErrorCode.NOT_FOUND, null);
            }
            known = new Operation(r.session(), null);
            operations.put(r.operation(), known);
        } else if (known.state != OperationState.REQUESTED) {
            return refused(row, ErrorCode.STALE_FENCE, row.tombstone);
        }
        return accepted(r, row, known);
    }

    private AcceptAnswer accepted(AcceptOperation r, Session row, Operation operation) {
        OperationId over = r.supersedes();
        if (over != null) {
            end(over, OperationState.SUPERSEDED, ErrorCode.GONE, "superseded");
        }
        if (r.kind() == OperationKind.DESTROY && row.tombstone == null) {
            row.tombstone = r.operation();
        }
        Command command = operation.command;
        if (command != null) {
            synchronized (VISITED) {
                VISITED.add(new GoCell(row.state, command, r.kind()));
            }
        }
        row.number++;
        row.highestNumber = row.number;
        row.highestAttempt = 0;
        boolean starts =
                switch (r.kind()) {
                    case CREATE, RESUME, RECOVER -> true;
                    default -> false;
                };
        if (starts) {
            row.epoch++;
        }
        operation.kind = r.kind();
        operation.state = OperationState.ACCEPTED;
        operation.number = row.number;
        operation.acceptedAtMillis = r.reason().atMillis();
        operation.epoch = row.epoch;
        ErrorCode error = null;
        if (r.place()) {
            if (placeable.isEmpty()) {
                error = ErrorCode.NO_CAPACITY;
            } else {
                operation.node = placeable.getFirst();
                row.nodes.add(operation.node);
            }
        }
        return new AcceptAnswer(true, row.number, row.epoch, operation.node, error, "", null, null);
    }

    private static long due(Session row) {
        return row.deadline == null ? 0 : row.deadline.atMillis();
    }

    private static AcceptAnswer refused(
            Session row, ErrorCode error, @Nullable OperationId tombstone) {
        return new AcceptAnswer(
                false, 0, row.epoch, null, error, error.summary(), tombstone, row.deadline);
    }

    private MoveAnswer move(MoveOperation r) {
        Session row = row(r.session());
        Operation operation = operation(r.operation());
        MoveAnswer known = operation.moves.get(r.fence().epoch());
        if (known != null) {
            return known;
        }
        if (row.tombstone != null) {
            return new MoveAnswer(false, row.epoch, null, ErrorCode.GONE);
        }
        if (fenced(row, r.operation(), r.fence(), false)) {
            return new MoveAnswer(false, row.epoch, null, ErrorCode.STALE_FENCE);
        }
        if (!r.acknowledged() && !leasesOver.contains(r.from())) {
            return new MoveAnswer(false, row.epoch, null, ErrorCode.NODE_UNREACHABLE);
        }
        String next =
                placeable.stream().filter(n -> !row.nodes.contains(n)).findFirst().orElse(null);
        if (next == null) {
            return new MoveAnswer(false, row.epoch, null, ErrorCode.NO_CAPACITY);
        }
        row.epoch++;
        row.nodes.add(next);
        operation.epoch = row.epoch;
        operation.node = next;
        MoveAnswer answer = new MoveAnswer(true, row.epoch, next, null);
        operation.moves.put(r.fence().epoch(), answer);
        return answer;
    }

    /** True when the row's fence refuses the write. */
    private boolean fenced(Session row, OperationId id, Fence fence, boolean destroy) {
        Operation operation = operation(id);
        boolean lower =
                fence.number() < row.highestNumber
                        || (fence.number() == row.highestNumber
                                && fence.attempt() < row.highestAttempt);
        boolean closed = operation.state != OperationState.ACCEPTED;
        boolean tombstoned = row.tombstone != null && !destroy;
        if (lower || closed || tombstoned) {
            return true;
        }
        row.highestNumber = fence.number();
        row.highestAttempt = fence.attempt();
        return false;
    }

    private CommitAnswer write(CommitOperation r) {
        Session row = row(r.session());
        Operation operation = operation(r.operation());
        boolean again =
                operation.state == r.outcome()
                        && row.highestNumber == r.fence().number()
                        && row.highestAttempt == r.fence().attempt();
        if (again) {
            return new CommitAnswer(true, null);
        }
        boolean destroy = operation.kind == OperationKind.DESTROY;
        if (fenced(row, r.operation(), r.fence(), destroy)) {
            return new CommitAnswer(false, row.tombstone);
        }
        row.state = r.state();
        row.node = r.node();
        row.vm = r.vm();
        row.reason = r.reason();
        r.snapshots().forEach(s -> list(row, s));
        String name = r.snapshotName();
        if (name != null && !r.snapshots().isEmpty()) {
            row.names.put(name, r.snapshots().getLast().id().value());
        }
        row.owed.addAll(r.owed());
        end(r.operation(), r.outcome(), r.error(), r.detail());
        r.joined().forEach(j -> end(j, r.outcome(), r.error(), r.detail()));
        if (r.state() == SessionState.DESTROYED) {
            operations.forEach((id, o) -> {
                if (o.session.equals(r.session())) {
                    boolean asked = o.command == Command.DESTROY;
                    end(
                            id,
                            asked ? OperationState.DONE : OperationState.REFUSED,
                            asked ? null : ErrorCode.GONE,
                            "destroyed");
                }
            });
        }
        return new CommitAnswer(true, null);
    }

    private static void list(Session row, SnapshotRef snapshot) {
        if (row.snapshots.stream().noneMatch(s -> s.id().equals(snapshot.id()))) {
            row.snapshots.add(snapshot);
        }
    }

    private void end(
            OperationId id, OperationState outcome, @Nullable ErrorCode error, String detail) {
        Operation operation = operations.get(id);
        if (operation != null && !operation.state.ended()) {
            operation.state = outcome;
            operation.error = error;
            operation.detail = detail;
        }
    }

    private @Nullable InFlight inFlight(Session row) {
        for (Map.Entry<OperationId, Operation> entry : operations.entrySet()) {
            Operation o = entry.getValue();
            boolean open = o.state == OperationState.ACCEPTED && o.number == row.number;
            OperationKind kind = o.kind;
            if (open && kind != null && row.equals(sessions.get(o.session))) {
                return new InFlight(
                        entry.getKey(),
                        kind,
                        o.number,
                        o.epoch,
                        row.highestAttempt,
                        "",
                        o.acceptedAtMillis);
            }
        }
        return null;
    }

    private SessionRecord record(Session row) {
        SessionRecord record = SessionRecord.fresh(row.deadline, row.reason);
        for (SnapshotRef snapshot : row.snapshots) {
            record =
                    snapshot.kind() == SnapshotKind.DISK
                            ? record.withPreserved(snapshot)
                            : record.withSnapshot(snapshot);
        }
        for (String node : row.nodes) {
            record = record.withNode(node);
        }
        return new SessionRecord(
                row.state,
                row.epoch,
                row.number,
                row.node,
                record.nodes(),
                false,
                row.vm,
                record.newest(),
                record.preserved(),
                row.deadline,
                List.of(),
                inFlight(row),
                row.reason,
                List.of());
    }

    private Session row(SessionId id) {
        return Objects.requireNonNull(sessions.get(id), () -> "no session " + id);
    }
}
