package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.ReasonCode;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Acceptance of operations and the taking of epochs. The row lock on the session orders everything
 * here, so that each method reads as one conditional write.
 */
@Singleton
public class AcceptStore {
    private static final String NO_TARGET =
            "the session has no such snapshot where it can be started from: on its node or in the"
                    + " object store; GET /v1/sessions/ID/snapshots lists them";

    private final Db db;

    @Inject
    public AcceptStore(Db db) {
        this.db = db;
    }

    /** What is asked; see the contract's AcceptOperation. */
    public record Request(
            SessionId session,
            OperationId operation,
            OperationKind kind,
            boolean automatic,
            boolean onlyIfDeadlinePassed,
            @Nullable OperationId supersedes,
            boolean place,
            ReasonCode reasonCode,
            String reason,
            Instant now) {}

    /** What became of it; a refusal has written nothing. */
    public record Answer(
            boolean accepted,
            long number,
            long epoch,
            @Nullable String node,
            @Nullable ErrorCode error,
            String detail,
            @Nullable OperationId tombstone,
            @Nullable Instant deadlineAt,
            @Nullable String deadlineAction,
            CommitStore.@Nullable Snapshot target,
            boolean acceptLoss,
            @Nullable SessionId origin,
            DurableRows.@Nullable Stored stored,
            boolean durable) {

        private Answer towards(
                CommitStore.@Nullable Snapshot snapshot,
                OperationRow row,
                @Nullable SessionId of,
                DurableRows.@Nullable Stored whole) {
            return new Answer(
                    accepted,
                    number,
                    epoch,
                    node,
                    error,
                    detail,
                    tombstone,
                    deadlineAt,
                    deadlineAction,
                    snapshot,
                    row.acceptLoss(),
                    of,
                    whole,
                    row.durable());
        }
    }

    /** REQUESTED → ACCEPTED with a number and, for a start, an epoch (rules 1, 4 and 6). */
    public Answer accept(Request request) {
        return db.inTransaction(tx -> acceptLocked(tx, request));
    }

    private static Answer acceptLocked(Db.Tx tx, Request request) throws SQLException {
        Optional<SessionRow> found = lock(tx, request.session());
        if (found.isEmpty()) {
            return refused(ErrorCode.NOT_FOUND, "the session has no row", null);
        }
        SessionRow session = found.get();
        Optional<OperationRow> known =
                tx.first(OperationRow.SELECT, OperationRow::read, request.operation());
        if (known.isPresent() && known.get().number() > 0) {
            return withTarget(tx, session, known.get(), repeated(tx, session, known.get()));
        }
        Optional<Answer> refusal = refusal(session, known, request);
        if (refusal.isPresent()) {
            return refusal.get();
        }
        Optional<Answer> keyless = withoutKey(tx, session, known.isPresent(), request);
        if (keyless.isPresent()) {
            return keyless.get();
        }
        if (known.isEmpty()) {
            return write(tx, session, null, request);
        }
        OperationRow row = ForkStore.withChoice(tx, session, known.get());
        if (needsTarget(session, row) && RepairStore.target(tx, session, row).isEmpty()) {
            CommitStore.end(
                    tx,
                    request.operation(),
                    OperationState.REFUSED,
                    ErrorCode.SNAPSHOT_NOT_FOUND,
                    NO_TARGET,
                    "");
            return refused(ErrorCode.SNAPSHOT_NOT_FOUND, NO_TARGET, session.tombstone());
        }
        return withTarget(tx, session, row, write(tx, session, row, request));
    }

    /**
     * Nothing starts while the organisation's key is not to be had; a creation is accepted and ends
     * without a place, so that its session has an end. What ends a sandbox because of a revoked key
     * is accepted only while the key is revoked.
     */
    private static Optional<Answer> withoutKey(
            Db.Tx tx, SessionRow session, boolean known, Request request) throws SQLException {
        boolean ends = request.reasonCode() == ReasonCode.KEY_REVOKED;
        boolean starts = isStart(request.kind()) || request.kind() == OperationKind.FORK;
        if (!starts || request.kind() == OperationKind.CREATE) {
            return Optional.empty();
        }
        Placement.Unplaced why = CustomerKeyRows.refusal(tx, session).orElse(null);
        boolean revoked = why != null && why.code() == ErrorCode.KEY_REVOKED;
        if (ends) {
            return revoked
                    ? Optional.empty()
                    : Optional.of(
                            refused(ErrorCode.PRECONDITION_FAILED, "the key is not revoked", null));
        }
        // What crashed while the service is away is recovered: it ran, and goes on.
        boolean goesOn = request.automatic() && !revoked;
        if (why == null || goesOn) {
            return Optional.empty();
        }
        if (known) {
            CommitStore.end(
                    tx, request.operation(), OperationState.REFUSED, why.code(), why.detail(), "");
        }
        return Optional.of(refused(why.code(), why.detail(), null));
    }

    /** Before anything is done: a rollback must have somewhere to go, a fork something to start. */
    private static boolean needsTarget(SessionRow session, OperationRow row) {
        return switch (row.kind()) {
            case ROLLBACK -> true;
            case FORK -> row.snapshot() != null || session.state() != SessionState.RUNNING;
            default -> false;
        };
    }

    private static Answer withTarget(Db.Tx tx, SessionRow session, OperationRow row, Answer answer)
            throws SQLException {
        CommitStore.Snapshot target = RepairStore.target(tx, session, row).orElse(null);
        return answer.towards(
                target,
                row,
                RepairStore.origin(session, row),
                target == null ? null : DurableRows.stored(tx, target.id()).orElse(null));
    }

    /**
     * A late or doubled request: the number is given once (rule 1), and so is the epoch (rule 4).
     */
    private static Answer repeated(Db.Tx tx, SessionRow session, OperationRow row)
            throws SQLException {
        if (row.state() != OperationState.ACCEPTED) {
            return refused(
                    row.error() == null ? ErrorCode.STALE_FENCE : row.error(),
                    "the operation ended as " + row.state(),
                    session.tombstone());
        }
        boolean ownsEpoch = row.id().value().equals(session.epochOperation());
        String node = ownsEpoch ? session.epochNode() : session.node();
        boolean unplaced = isStart(row.kind()) && !ownsEpoch;
        Placement.Unplaced why = unplaced ? why(tx, session, row) : null;
        return new Answer(
                true,
                row.number(),
                session.epoch(),
                unplaced ? null : node,
                why == null ? null : why.code(),
                why == null ? "" : why.detail(),
                session.tombstone(),
                null,
                null,
                null,
                false,
                null,
                null,
                false);
    }

    private static Optional<Answer> refusal(
            SessionRow session, Optional<OperationRow> known, Request request) {
        boolean destroy = request.kind() == OperationKind.DESTROY;
        if (session.state() == SessionState.DESTROYED
                || (session.tombstone() != null && !destroy)) {
            return Optional.of(
                    refused(ErrorCode.GONE, "the session is destroyed", session.tombstone()));
        }
        if (known.isPresent() && known.get().state() != OperationState.REQUESTED) {
            OperationRow row = known.get();
            return Optional.of(
                    refused(
                            row.error() == null ? ErrorCode.STALE_FENCE : row.error(),
                            "the operation ended as " + row.state(),
                            session.tombstone()));
        }
        if (known.isEmpty() && !request.automatic()) {
            return Optional.of(
                    refused(ErrorCode.NOT_FOUND, "the operation has no row", session.tombstone()));
        }
        if (request.onlyIfDeadlinePassed()
                && (session.deadlineAt() == null || session.deadlineAt().isAfter(request.now()))) {
            return Optional.of(
                    new Answer(
                            false,
                            0,
                            session.epoch(),
                            null,
                            ErrorCode.PRECONDITION_FAILED,
                            "the deadline was changed",
                            null,
                            session.deadlineAt(),
                            session.deadlineAction(),
                            null,
                            false,
                            null,
                            null,
                            false));
        }
        if (session.operation() != null
                && !destroy
                && !session.operation().equals(request.supersedes())) {
            return Optional.of(
                    refused(
                            ErrorCode.OPERATION_IN_PROGRESS,
                            "operation " + session.operation() + " is in flight",
                            null));
        }
        return Optional.empty();
    }

    private static Answer write(
            Db.Tx tx, SessionRow session, @Nullable OperationRow known, Request request)
            throws SQLException {
        supersede(tx, session, request);
        long number = session.lastNumber() + 1;
        String node = session.node();
        long epoch = session.epoch();
        boolean start = isStart(request.kind());
        if (request.place()) {
            boolean free = CustomerKeyRows.refusal(tx, session).isEmpty();
            node = free ? place(tx, session, known).orElse(null) : null;
        }
        if (start && node != null) {
            epoch++;
        }
        if (known == null) {
            tx.update(
                    "INSERT INTO operations (id, session_id, kind, state, actor, number, epoch,"
                            + " accepted_at) VALUES (?, ?, ?, 'ACCEPTED', 'platform', ?, ?, now())",
                    request.operation(),
                    session.id(),
                    request.kind(),
                    number,
                    epoch);
        } else {
            tx.update(
                    "UPDATE operations SET state = 'ACCEPTED', kind = ?, number = ?, epoch = ?,"
                            + " accepted_at = now() WHERE id = ?",
                    request.kind(),
                    number,
                    epoch,
                    request.operation());
        }
        tx.update(
                "UPDATE sessions SET desired = ?, last_number = ?, fence_attempt = 0,"
                        + " operation_id = ?, node_id = coalesce(?, node_id), updated_at = now()"
                        + " WHERE id = ?",
                desired(request.kind(), session),
                number,
                request.operation(),
                request.place() ? node : null,
                session.id());
        if (start && node != null) {
            takeEpoch(tx, session.id(), request.operation(), node, epoch);
        }
        if (request.kind() == OperationKind.DESTROY && session.tombstone() == null) {
            tx.update(
                    "UPDATE sessions SET tombstone_at = now(), tombstone_operation = ? WHERE id = ?",
                    request.operation(),
                    session.id());
        }
        Placement.Unplaced why = start && node == null ? why(tx, session, known) : null;
        return new Answer(
                true,
                number,
                epoch,
                node,
                why == null ? null : why.code(),
                why == null ? "" : why.detail(),
                request.kind() == OperationKind.DESTROY ? request.operation() : null,
                null,
                null,
                null,
                false,
                null,
                null,
                false);
    }

    /** What starts from a snapshot is placed where that is, else, if it is stored, anywhere. */
    private static Optional<String> place(Db.Tx tx, SessionRow session, @Nullable OperationRow row)
            throws SQLException {
        if (row == null || !startsFromTarget(session, row)) {
            return Placement.near(tx, session, copyOf(tx, session));
        }
        CommitStore.Snapshot target = RepairStore.target(tx, session, row).orElse(null);
        if (target == null) {
            return Optional.empty();
        }
        return DurableRows.stored(tx, target.id()).isPresent()
                ? Placement.near(tx, session, target.node())
                : Placement.only(tx, session, target.node());
    }

    private static Placement.Unplaced why(Db.Tx tx, SessionRow session, @Nullable OperationRow row)
            throws SQLException {
        Optional<Placement.Unplaced> keyless = CustomerKeyRows.refusal(tx, session);
        if (keyless.isPresent()) {
            return keyless.get();
        }
        CommitStore.Snapshot target =
                row == null || !startsFromTarget(session, row)
                        ? null
                        : RepairStore.target(tx, session, row).orElse(null);
        if (target == null || DurableRows.stored(tx, target.id()).isPresent()) {
            return Placement.why(tx, session, null);
        }
        return Placement.why(tx, session, target.node());
    }

    private static boolean startsFromTarget(SessionRow session, OperationRow row) {
        return row.kind() == OperationKind.ROLLBACK || RepairStore.origin(session, row) != null;
    }

    /** Where a copy of what a stored session stands on may still be. */
    private static @Nullable String copyOf(Db.Tx tx, SessionRow session) throws SQLException {
        return session.snapshot() == null
                ? null
                : RepairStore.listed(tx, session.id(), session.snapshot())
                        .map(CommitStore.Snapshot::node)
                        .orElse(null);
    }

    /** DESTROY is never refused: whatever is in flight gives way to it. */
    private static void supersede(Db.Tx tx, SessionRow session, Request request)
            throws SQLException {
        if (session.operation() == null) {
            return;
        }
        tx.update(
                "UPDATE operations SET state = 'SUPERSEDED', ended_at = now(), error_code = ?,"
                        + " error_detail = ? WHERE id = ? AND state = 'ACCEPTED'",
                request.kind() == OperationKind.DESTROY ? ErrorCode.GONE : ErrorCode.STALE_FENCE,
                "overtaken by " + request.kind() + " " + request.operation(),
                session.operation());
    }

    /** What is asked to give a node up. */
    public record Move(
            SessionId session,
            OperationId operation,
            Fence fence,
            String from,
            boolean acknowledged) {}

    /** The new node and epoch, or why there is none. */
    public record Moved(
            boolean moved, long epoch, @Nullable String node, @Nullable ErrorCode error) {}

    /**
     * Rules 7 and 8: another node only under a new epoch, and only when the first acknowledged its
     * fence or its lease is over. The lock on the node's row keeps a renewal from slipping between.
     */
    public Moved move(Move request) {
        return db.inTransaction(tx -> moveLocked(tx, request));
    }

    private static Moved moveLocked(Db.Tx tx, Move request) throws SQLException {
        SessionRow session = lock(tx, request.session()).orElse(null);
        if (session == null || session.tombstone() != null) {
            return new Moved(false, 0, null, ErrorCode.GONE);
        }
        boolean mine = request.operation().equals(session.operation());
        boolean tookEpoch = request.operation().value().equals(session.epochOperation());
        if (mine && tookEpoch && session.epoch() > request.fence().epoch()) {
            return new Moved(true, session.epoch(), session.epochNode(), null);
        }
        if (session.isFenced(request.operation(), request.fence())) {
            return new Moved(false, session.epoch(), null, ErrorCode.STALE_FENCE);
        }
        if (!request.acknowledged() && !leaseIsOver(tx, request.from())) {
            return new Moved(false, session.epoch(), null, ErrorCode.NODE_UNREACHABLE);
        }
        Optional<String> node = Placement.choose(tx, session, request.from());
        if (node.isEmpty()) {
            return new Moved(false, session.epoch(), null, ErrorCode.NO_CAPACITY);
        }
        long epoch = session.epoch() + 1;
        takeEpoch(tx, session.id(), request.operation(), node.get(), epoch);
        tx.update("UPDATE sessions SET node_id = ? WHERE id = ?", node.get(), session.id());
        tx.update("UPDATE operations SET epoch = ? WHERE id = ?", epoch, request.operation());
        return new Moved(true, epoch, node.get(), null);
    }

    private static boolean leaseIsOver(Db.Tx tx, String node) throws SQLException {
        return tx.first(
                        "SELECT lease_until < now() AS over FROM nodes WHERE id = ? FOR UPDATE",
                        row -> row.getBoolean("over"),
                        node)
                .orElse(true);
    }

    /** The node is written down before any call is sent to it (rule 6). */
    private static void takeEpoch(
            Db.Tx tx, SessionId session, OperationId operation, String node, long epoch)
            throws SQLException {
        tx.update(
                "UPDATE sessions SET epoch = ?, epoch_operation = ?, epoch_node = ?, nodes_touched"
                        + " = CASE WHEN ? = ANY (nodes_touched) THEN nodes_touched ELSE nodes_touched"
                        + " || ? END, updated_at = now() WHERE id = ?",
                epoch,
                operation,
                node,
                node,
                node,
                session);
    }

    static Optional<SessionRow> lock(Db.Tx tx, SessionId session) throws SQLException {
        return tx.first(SessionRow.SELECT + " FOR UPDATE", SessionRow::read, session);
    }

    private static Answer refused(ErrorCode error, String detail, @Nullable OperationId tombstone) {
        return new Answer(
                false, 0, 0, null, error, detail, tombstone, null, null, null, false, null, null,
                false);
    }

    static boolean isStart(OperationKind kind) {
        return switch (kind) {
            case PREPARE, CREATE, BIND, RESUME, RESTORE, ROLLBACK, RECOVER -> true;
            case PAUSE, CHECKPOINT, FORK, SUSPEND, DESTROY -> false;
        };
    }

    private static SessionState desired(OperationKind kind, SessionRow session) {
        return switch (kind) {
            case CREATE, BIND, RESUME, RESTORE, ROLLBACK, RECOVER -> SessionState.RUNNING;
            case PREPARE -> SessionState.WARM;
            case PAUSE -> SessionState.PAUSED;
            case SUSPEND -> SessionState.SUSPENDED;
            case CHECKPOINT, FORK -> session.state();
            case DESTROY -> SessionState.DESTROYED;
        };
    }
}
