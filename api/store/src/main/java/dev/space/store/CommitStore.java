package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.ReasonCode;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The writes that end operations. The session's row is a fence like the node (rule 3): a write
 * names its operation, carries (number, attempt), and is refused behind a higher one, for an
 * operation that is no longer ACCEPTED, or on a tombstone.
 */
@Singleton
public class CommitStore {
    private final Db db;

    @Inject
    public CommitStore(Db db) {
        this.db = db;
    }

    /** A published snapshot to list. */
    public record Snapshot(
            SnapshotId id,
            SnapshotKind kind,
            String node,
            long epoch,
            long stop,
            long bytes,
            Instant takenAt) {}

    /**
     * The one write that ends an operation; see the contract's CommitOperation.
     *
     * @param durable of a SUSPEND what is stored; of a RECOVER what the present goes on from
     */
    public record Commit(
            SessionId session,
            OperationId operation,
            Fence fence,
            OperationState outcome,
            @Nullable ErrorCode error,
            String detail,
            SessionState state,
            @Nullable String node,
            @Nullable Fence vm,
            List<Snapshot> snapshots,
            DurableRows.@Nullable Stored durable,
            @Nullable String snapshotName,
            List<OperationId> joined,
            List<String> owed,
            ReasonCode reasonCode,
            String reason) {}

    /**
     * Whether the row took the write, and the DESTROY that is wanted.
     *
     * @param ended kind of the operation that this very call ended; null for a repeated call
     */
    public record Written(
            boolean written, @Nullable OperationId tombstone, @Nullable OperationKind ended) {

        private Written(boolean written, @Nullable OperationId tombstone) {
            this(written, tombstone, null);
        }
    }

    /** Writes the observed state and ends the operation with those that joined it. */
    public Written commit(Commit commit) {
        return db.inTransaction(tx -> commitLocked(tx, commit));
    }

    private static Written commitLocked(Db.Tx tx, Commit commit) throws SQLException {
        SessionRow session = AcceptStore.lock(tx, commit.session()).orElse(null);
        OperationRow operation =
                tx.first(OperationRow.SELECT, OperationRow::read, commit.operation()).orElse(null);
        if (session == null || operation == null) {
            return new Written(false, null);
        }
        if (operation.state() == commit.outcome()
                && operation.number() == commit.fence().number()) {
            return new Written(true, session.tombstone());
        }
        if (isRefused(session, operation, commit.fence())) {
            return new Written(false, session.tombstone());
        }
        listSnapshots(tx, commit.session(), commit.operation(), commit.snapshots(), 0);
        name(tx, commit);
        DurableRows.complete(tx, commit, operation);
        if (commit.outcome() == OperationState.DONE) {
            rebase(tx, commit, operation);
        }
        if (operation.kind() == OperationKind.FORK && commit.outcome() == OperationState.DONE) {
            ForkStore.makeChildren(tx, commit, operation);
        }
        writeSession(tx, commit);
        for (String node : commit.owed()) {
            owe(tx, commit, node);
        }
        String detail = OtherSnapshots.offered(tx, commit, operation);
        end(tx, commit.operation(), commit.outcome(), commit.error(), detail, commit.reason());
        for (OperationId joined : commit.joined()) {
            end(tx, joined, commit.outcome(), commit.error(), detail, commit.reason());
        }
        if (commit.state() == SessionState.DESTROYED) {
            endAllOpen(tx, commit);
        }
        return new Written(true, session.tombstone(), operation.kind());
    }

    /** After a rollback, or a recovery from what is stored, the present goes on from there. */
    private static void rebase(Db.Tx tx, Commit commit, OperationRow operation)
            throws SQLException {
        boolean stored = operation.kind() == OperationKind.RECOVER && commit.durable() != null;
        if (operation.kind() != OperationKind.ROLLBACK && !stored) {
            return;
        }
        String base =
                stored && commit.durable() != null
                        ? commit.durable().snapshot().id().value()
                        : operation.snapshot();
        tx.update(
                "UPDATE sessions SET base_snapshot_id = ?, base_epoch = ?, preserved_id = NULL"
                        + " WHERE id = ?",
                base,
                commit.fence().epoch(),
                commit.session());
    }

    static boolean isRefused(SessionRow session, OperationRow operation, Fence fence) {
        boolean destroy = operation.kind() == OperationKind.DESTROY;
        return operation.state() != OperationState.ACCEPTED
                || session.state() == SessionState.DESTROYED
                || (session.tombstone() != null && !destroy)
                || session.isFenced(operation.id(), fence);
    }

    private static void writeSession(Db.Tx tx, Commit commit) throws SQLException {
        boolean destroyed = commit.state() == SessionState.DESTROYED;
        Fence vm = commit.vm();
        tx.update(
                """
                UPDATE sessions SET state = ?, desired = ?,
                    node_id = CASE WHEN ? THEN NULL ELSE coalesce(?, node_id) END,
                    vm_epoch = ?, vm_number = ?, vm_attempt = ?,
                    fence_attempt = ?, operation_id = NULL,
                    reason_code = ?, reason = ?, reason_at = now(), updated_at = now(),
                    tombstone_at = CASE WHEN ? THEN coalesce(tombstone_at, now())
                        ELSE tombstone_at END,
                    tombstone_operation = CASE WHEN ? THEN coalesce(tombstone_operation, ?)
                        ELSE tombstone_operation END,
                    env_encrypted = CASE WHEN ? THEN NULL ELSE env_encrypted END
                WHERE id = ?
                """,
                commit.state(),
                commit.state(),
                commit.state() == SessionState.SUSPENDED,
                commit.node(),
                vm == null ? 0L : vm.epoch(),
                vm == null ? 0L : vm.number(),
                vm == null ? 0L : vm.attempt(),
                commit.fence().attempt(),
                commit.reasonCode(),
                commit.reason(),
                destroyed,
                destroyed,
                commit.operation(),
                destroyed,
                commit.session());
        if (destroyed) {
            tx.update(
                    "UPDATE snapshots SET state = 'DELETED' WHERE session_id = ?",
                    commit.session());
        }
        if (destroyed || !commit.snapshots().isEmpty() || commit.durable() != null) {
            refreshDurability(tx, commit.session());
        }
    }

    /**
     * Newest means highest (epoch, stop) (rule 17) since the last rollback, else what that went to.
     */
    static void refreshDurability(Db.Tx tx, SessionId session) throws SQLException {
        tx.update(
                """
                UPDATE sessions s SET
                    snapshot_id = coalesce(
                        (SELECT id FROM snapshots WHERE session_id = s.id AND state = 'LISTED'
                            AND kind = 'FULL' AND epoch >= s.base_epoch
                            ORDER BY epoch DESC, stop DESC LIMIT 1),
                        (SELECT id FROM snapshots WHERE id = s.base_snapshot_id
                            AND state = 'LISTED')),
                    durability = CASE
                        WHEN EXISTS (SELECT 1 FROM snapshots WHERE session_id = s.id
                            AND state = 'LISTED' AND durability = 'DURABLE'
                            AND (epoch >= s.base_epoch OR id = s.base_snapshot_id))
                            THEN 'DURABLE'
                        WHEN EXISTS (SELECT 1 FROM snapshots WHERE session_id = s.id
                            AND state = 'LISTED') THEN 'LOCAL'
                        ELSE 'NONE' END,
                    (durable_snapshot_id, durable_taken_at) =
                        (SELECT id, taken_at FROM snapshots WHERE session_id = s.id
                            AND state = 'LISTED' AND durability = 'DURABLE'
                            AND (epoch >= s.base_epoch OR id = s.base_snapshot_id)
                            ORDER BY epoch DESC, stop DESC LIMIT 1)
                WHERE s.id = ?
                """,
                session);
    }

    /** Lists snapshots while their operation is still in flight; knows them by id. */
    public Written recordSnapshots(
            SessionId session,
            OperationId operation,
            Fence fence,
            List<Snapshot> snapshots,
            long pinnedForMillis) {
        return db.inTransaction(tx -> {
            SessionRow row = AcceptStore.lock(tx, session).orElse(null);
            OperationRow found =
                    tx.first(OperationRow.SELECT, OperationRow::read, operation).orElse(null);
            if (row == null || found == null) {
                return new Written(false, null);
            }
            if (isRefused(row, found, fence)) {
                return new Written(false, row.tombstone());
            }
            listSnapshots(tx, session, operation, snapshots, pinnedForMillis);
            if (pinnedForMillis > 0 && !snapshots.isEmpty()) {
                tx.update(
                        "UPDATE sessions SET preserved_id = ? WHERE id = ?",
                        snapshots.getLast().id(),
                        session);
            }
            tx.update(
                    "UPDATE sessions SET fence_attempt = ? WHERE id = ?", fence.attempt(), session);
            refreshDurability(tx, session);
            return new Written(true, row.tombstone());
        });
    }

    /** One that is known is where this says now: a restore made a copy of it there. */
    static void listSnapshots(
            Db.Tx tx,
            SessionId session,
            OperationId operation,
            List<Snapshot> snapshots,
            long pinnedForMillis)
            throws SQLException {
        for (Snapshot snapshot : snapshots) {
            tx.update(
                    """
                    INSERT INTO snapshots (id, session_id, operation_id, kind, state, node_id,
                        epoch, stop, bytes, pinned_until, taken_at, reason)
                    SELECT ?, ?, o.id, k.kind, 'LISTED', ?, ?, ?, ?,
                        CASE WHEN ?::bigint > 0
                            THEN now() + ?::bigint * interval '1 millisecond' END, ?,
                        CASE WHEN o.kind IN ('PAUSE', 'SUSPEND') THEN 'PAUSE'
                            WHEN o.kind = 'FORK' THEN 'FORK'
                            WHEN k.kind = 'DISK' THEN 'CRASH'
                            WHEN o.kind = 'ROLLBACK' THEN 'SAFETY'
                            WHEN o.kind = 'RECOVER' THEN 'ROLLING'
                            ELSE 'CHECKPOINT' END
                    FROM operations o, (SELECT ?::text AS kind) k WHERE o.id = ?
                    ON CONFLICT (id) DO UPDATE SET node_id = EXCLUDED.node_id
                        WHERE snapshots.session_id = EXCLUDED.session_id
                            AND EXISTS (SELECT 1 FROM operations r
                                WHERE r.id = EXCLUDED.operation_id
                                    AND r.kind IN ('RESTORE', 'RECOVER', 'ROLLBACK'))
                    """,
                    snapshot.id(),
                    session,
                    snapshot.node(),
                    snapshot.epoch(),
                    snapshot.stop(),
                    snapshot.bytes(),
                    pinnedForMillis,
                    pinnedForMillis,
                    snapshot.takenAt(),
                    snapshot.kind(),
                    operation);
        }
    }

    private static void name(Db.Tx tx, Commit commit) throws SQLException {
        if (commit.snapshotName() != null && !commit.snapshots().isEmpty()) {
            tx.update(
                    "UPDATE snapshots SET name = ? WHERE id = ?",
                    commit.snapshotName(),
                    commit.snapshots().getLast().id());
        }
    }

    private static void owe(Db.Tx tx, Commit commit, String node) throws SQLException {
        tx.update(
                """
                INSERT INTO cleanup_owed (session_id, node_id, operation_id, epoch, number,
                    attempt, why, keeps_snapshots)
                SELECT ?, ?, id, ?, ?, ?, 'node not reached', kind NOT IN ('CREATE', 'DESTROY')
                    FROM operations WHERE id = ?
                ON CONFLICT (session_id, node_id) DO UPDATE SET
                    operation_id = EXCLUDED.operation_id, epoch = EXCLUDED.epoch,
                    number = EXCLUDED.number, attempt = EXCLUDED.attempt,
                    keeps_snapshots = EXCLUDED.keeps_snapshots
                """,
                commit.session(),
                node,
                commit.fence().epoch(),
                commit.fence().number(),
                commit.fence().attempt(),
                commit.operation());
    }

    /** Ends rows that were not carried out; rows that ended already stay as they are. */
    public record Ended(
            OperationId operation,
            OperationState outcome,
            @Nullable ErrorCode error,
            String detail) {}

    /** Ends REQUESTED rows that changed nothing: refused, already so, waited in vain. */
    public void end(SessionId session, List<Ended> rows) {
        db.inTransaction(tx -> {
            AcceptStore.lock(tx, session);
            for (Ended row : rows) {
                OperationRow found =
                        tx.first(OperationRow.SELECT, OperationRow::read, row.operation())
                                .orElse(null);
                if (found != null && found.state() == OperationState.REQUESTED) {
                    end(tx, row.operation(), row.outcome(), row.error(), row.detail(), "");
                }
            }
            return true;
        });
    }

    /** DESTROYED absorbs: whoever still waits is told that the session is gone (rule 13). */
    private static void endAllOpen(Db.Tx tx, Commit commit) throws SQLException {
        List<OperationRow> open =
                tx.all(
                        "SELECT "
                                + OperationRow.COLUMNS
                                + " FROM operations WHERE session_id = ? AND ended_at IS NULL",
                        OperationRow::read,
                        commit.session());
        for (OperationRow row : open) {
            if (row.kind() == OperationKind.DESTROY) {
                end(tx, row.id(), OperationState.DONE, null, "", commit.reason());
            } else {
                OperationState outcome =
                        row.state() == OperationState.REQUESTED
                                ? OperationState.REFUSED
                                : OperationState.SUPERSEDED;
                end(tx, row.id(), outcome, ErrorCode.GONE, "the session was destroyed", "");
            }
        }
    }

    /** One row ends; a retryable failure frees its key in this same transaction (rule 14). */
    static void end(
            Db.Tx tx,
            OperationId operation,
            OperationState outcome,
            @Nullable ErrorCode error,
            String detail,
            String reason)
            throws SQLException {
        int ended =
                tx.update(
                        "UPDATE operations SET state = ?, error_code = ?, error_detail = ?,"
                                + " ended_at = now() WHERE id = ? AND ended_at IS NULL",
                        outcome,
                        error,
                        error == null ? null : detail,
                        operation);
        if (ended == 0) {
            return;
        }
        if (error != null && error.isRetryable()) {
            tx.update("DELETE FROM idempotency_keys WHERE operation_id = ?", operation);
        }
        tx.update(
                """
                INSERT INTO events (project_id, session_id, actor, action, object, outcome,
                    reason, epoch, node_id)
                SELECT s.project_id, s.id, o.actor, lower(o.kind), o.id,
                    coalesce(o.error_code, o.state), ?, o.epoch, s.node_id
                FROM operations o JOIN sessions s ON s.id = o.session_id WHERE o.id = ?
                """,
                reason,
                operation);
    }
}
