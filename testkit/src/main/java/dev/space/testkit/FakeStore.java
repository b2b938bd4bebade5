package dev.space.testkit;

import dev.space.contract.control.AcceptAnswer;
import dev.space.contract.control.AcceptOperation;
import dev.space.contract.control.BeginUpload;
import dev.space.contract.control.CommitAnswer;
import dev.space.contract.control.CommitOperation;
import dev.space.contract.control.ControlActivities;
import dev.space.contract.control.EndOperations;
import dev.space.contract.control.MoveAnswer;
import dev.space.contract.control.MoveOperation;
import dev.space.contract.control.RecordSnapshots;
import dev.space.contract.control.UploadBegun;
import dev.space.contract.session.DeadlinePolicy;
import dev.space.contract.session.InFlight;
import dev.space.contract.session.Reason;
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
import dev.space.model.SnapshotId;
import java.time.Duration;
import java.util.AbstractMap;
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
        public final List<Ending> endings = new ArrayList<>();
        public final List<FakeDurables.Row> durables = new ArrayList<>();
        @Nullable SnapshotRef base;
        long baseEpoch;
        @Nullable Session origin;
        public final SessionId id;
        long highestNumber;
        long highestAttempt;

        Session(SessionId id) {
            this.id = id;
        }
    }

    /** An operation's row. */
    public static final class Operation {
        public final SessionId session;
        public final @Nullable Command command;
        public OperationState state = OperationState.REQUESTED;
        public @Nullable OperationKind kind;
        public @Nullable ErrorCode error;
        public String detail = "";
        public @Nullable String name;
        public long number;
        public long epoch;
        public @Nullable SnapshotId snapshot;
        public boolean acceptLoss;
        public boolean durable;

        /** Of a FORK: the sessions that it makes, and the CREATE of each. */
        public final Map<SessionId, OperationId> children = new LinkedHashMap<>();

        long acceptedAtMillis;
        @Nullable String node;
        private final Map<Long, MoveAnswer> moves = new LinkedHashMap<>();

        Operation(SessionId session, @Nullable Command command) {
            this.session = session;
            this.command = command;
        }
    }

    /** A cell of the table that led to an operation: where, what was asked, what was started. */
    public record GoCell(SessionState state, Command command, OperationKind kind) {}

    /** An operation ended so, and the session's state went from one to the other. */
    public record Ending(
            OperationKind kind, OperationState outcome, SessionState from, SessionState to) {}

    private static final Set<GoCell> VISITED = new LinkedHashSet<>();

    private final Map<SessionId, Session> sessions = new LinkedHashMap<>();
    private final Map<OperationId, Operation> operations = new LinkedHashMap<>();
    private final List<String> placeable = new ArrayList<>();
    public volatile ErrorCode whyUnplaced = ErrorCode.NO_CAPACITY;
    private final Set<String> leasesOver = new LinkedHashSet<>();
    private final FaultyCalls calls;
    private long uploads;

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
        Session row = new Session(id);
        sessions.put(id, row);
        return row;
    }

    /** Fails on a tombstone as the real insert does; a session that is over is answered as is. */
    public synchronized boolean request(
            SessionId session, OperationId id, @Nullable Command command) {
        Session row = row(session);
        boolean over = row.state == SessionState.DESTROYED;
        if (over || (row.tombstone != null && command != Command.DESTROY)) {
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

    public synchronized boolean exists(SessionId id) {
        return sessions.containsKey(id);
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

    /** Rows that nobody has accepted or ended yet, with their commands; null is CREATE. */
    public synchronized List<Map.Entry<OperationId, @Nullable Command>> requested(SessionId id) {
        List<Map.Entry<OperationId, @Nullable Command>> rows = new ArrayList<>();
        operations.forEach((operation, row) -> {
            if (row.session.equals(id) && row.state == OperationState.REQUESTED) {
                rows.add(new AbstractMap.SimpleImmutableEntry<>(operation, row.command));
            }
        });
        return rows;
    }

    /** As the reconciler: what no row has or is going to have is removed from the object store. */
    public synchronized void collect(FakeBucket bucket) {
        Set<String> referred = new LinkedHashSet<>();
        for (Session row : sessions.values()) {
            for (FakeDurables.Row d : row.durables) {
                if (d.state != FakeDurables.State.GARBAGE) {
                    referred.add(row.id.value() + "/" + d.id);
                }
            }
        }
        bucket.keepOnly(referred);
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
                    request.snapshots().forEach(s -> FakeRecords.list(row, s));
                    return new CommitAnswer(true, null);
                });
    }

    @Override
    public UploadBegun beginUpload(BeginUpload request) {
        return call(
                "begin upload",
                () -> {
                    Session row = row(request.session());
                    return fenced(row, request.operation(), request.fence(), false)
                            ? new UploadBegun(false, row.tombstone, 0, "", null, null)
                            : FakeDurables.begin(row, request, ++uploads);
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
                    return row == null ? null : FakeRecords.loaded(row, operations);
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
        if (known != null && known.number > 0) {
            return known.state == OperationState.ACCEPTED
                    ? FakeRecords.accepted(row, known, null)
                    : FakeRecords.refused(row, known.error, row.tombstone);
        }
        AcceptAnswer refusal = FakeAcceptance.refusal(r, row, known, operations);
        if (refusal != null) {
            return refusal; // and has written nothing
        }
        if (known == null) {
            known = new Operation(r.session(), null);
            operations.put(r.operation(), known);
        }
        InFlight open = FakeRecords.inFlight(row, operations);
        if (open != null) {
            end(open.operation(), OperationState.SUPERSEDED, ErrorCode.GONE, "superseded");
        }
        if (r.kind() == OperationKind.FORK) {
            FakeForks.choose(row, known, FakeRecords.record(row, operations, null));
        }
        if (FakeForks.goesNowhere(r.kind(), row, known)) {
            end(r.operation(), OperationState.REFUSED, ErrorCode.SNAPSHOT_NOT_FOUND, "no target");
            return FakeRecords.refused(row, ErrorCode.SNAPSHOT_NOT_FOUND, null);
        }
        return accepted(r, row, known);
    }

    private AcceptAnswer accepted(AcceptOperation r, Session row, Operation operation) {
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
                    case CREATE, RESUME, RESTORE, ROLLBACK, RECOVER -> true;
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
            operation.node = FakeForks.place(row, operation, placeable);
            if (operation.node == null) {
                error = whyUnplaced;
            } else {
                row.nodes.add(operation.node);
            }
        }
        return FakeRecords.accepted(row, operation, error);
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
                placeable.stream()
                        .filter(n -> !n.equals(r.from()))
                        .filter(n ->
                                operation.kind != OperationKind.CREATE || !row.nodes.contains(n))
                        .findFirst()
                        .orElse(null);
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
        boolean closed =
                operation.state != OperationState.ACCEPTED || row.state == SessionState.DESTROYED;
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
        if (operation.state == r.outcome() && operation.number == r.fence().number()) {
            return new CommitAnswer(true, row.tombstone);
        }
        boolean destroy = operation.kind == OperationKind.DESTROY;
        if (fenced(row, r.operation(), r.fence(), destroy)) {
            return new CommitAnswer(false, row.tombstone);
        }
        row.endings.add(
                new Ending(
                        Objects.requireNonNull(operation.kind), r.outcome(), row.state, r.state()));
        row.state = r.state();
        row.node = r.node();
        row.vm = r.vm();
        row.reason = r.reason();
        r.snapshots().forEach(s -> FakeRecords.list(row, s));
        if (operation.kind == OperationKind.ROLLBACK && r.outcome() == OperationState.DONE) {
            row.base = FakeRecords.target(row, operation);
            row.baseEpoch = r.fence().epoch();
        }
        String name = r.snapshotName();
        if (name != null && !r.snapshots().isEmpty()) {
            row.names.put(name, r.snapshots().getLast().id().value());
        }
        row.owed.addAll(r.owed());
        FakeDurables.committed(row, operation.kind, r);
        if (operation.kind == OperationKind.FORK && r.outcome() == OperationState.DONE) {
            FakeForks.makeChildren(sessions, operations, operation, r);
        }
        end(r.operation(), r.outcome(), r.error(), r.detail());
        r.joined().forEach(j -> end(j, r.outcome(), r.error(), r.detail()));
        if (r.state() == SessionState.DESTROYED) {
            destroyed(row, r);
        }
        return new CommitAnswer(true, null);
    }

    /** It absorbs: whoever still waits is told so. */
    private void destroyed(Session row, CommitOperation r) {
        if (row.tombstone == null) {
            row.tombstone = r.operation();
        }
        FakeDurables.destroyed(row);
        operations.forEach((id, o) -> {
            if (!o.session.equals(r.session())) {
                return;
            }
            if (o.command == Command.DESTROY) {
                end(id, OperationState.DONE, null, "");
            } else {
                boolean begun = o.state == OperationState.ACCEPTED;
                end(
                        id,
                        begun ? OperationState.SUPERSEDED : OperationState.REFUSED,
                        ErrorCode.GONE,
                        "destroyed");
            }
        });
    }

    private void end(
            OperationId id, OperationState outcome, @Nullable ErrorCode error, String detail) {
        Operation operation = operations.get(id);
        if (operation != null && !operation.state.ended()) {
            operation.state = outcome;
            operation.error = error;
            operation.detail = detail;
            FakeDurables.ended(row(operation.session), id);
        }
    }

    private Session row(SessionId id) {
        return Objects.requireNonNull(sessions.get(id), () -> "no session " + id);
    }
}
