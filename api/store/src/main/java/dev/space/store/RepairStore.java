package dev.space.store;

import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the reconciler looks for. Every claim moves a time in the row under SKIP LOCKED, so that any
 * number of instances share the work and none does it twice at once.
 */
@Singleton
public class RepairStore {
    private static final String SNAPSHOT =
            "SELECT id, kind, coalesce(node_id, '') AS node_id, epoch, stop, bytes, taken_at"
                    + " FROM snapshots WHERE session_id = ? AND id = ?";

    private final Db db;

    @Inject
    public RepairStore(Db db) {
        this.db = db;
    }

    /**
     * A clean-up that a node owes.
     *
     * @param keepsSnapshots only what runs is ended: the node was left, not the session destroyed
     */
    public record Owed(
            SessionId session,
            String node,
            OperationId operation,
            Fence fence,
            int tries,
            boolean keepsSnapshots) {}

    /** REQUESTED rows that nobody sent for a while; claiming them counts as sending. */
    public List<OperationRow> claimRequested(Duration older, int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        "UPDATE operations SET sent_at = now() WHERE id IN (SELECT id FROM"
                                + " operations WHERE state = 'REQUESTED' AND sent_at < now() -"
                                + " ?::bigint * interval '1 millisecond' ORDER BY sent_at LIMIT"
                                + " ? FOR UPDATE SKIP LOCKED) RETURNING "
                                + OperationRow.COLUMNS,
                        OperationRow::read,
                        older.toMillis(),
                        max));
    }

    /** ACCEPTED rows that are at work for long; claiming one puts the next look at it off. */
    public List<OperationRow> claimAccepted(Duration older, int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        "UPDATE operations SET sent_at = now() WHERE id IN (SELECT id FROM"
                                + " operations WHERE state = 'ACCEPTED' AND greatest(sent_at,"
                                + " accepted_at) < now() - ?::bigint * interval '1 millisecond'"
                                + " ORDER BY sent_at LIMIT ? FOR UPDATE SKIP LOCKED) RETURNING "
                                + OperationRow.COLUMNS,
                        OperationRow::read,
                        older.toMillis(),
                        max));
    }

    /** Clean-ups that are due; the next try is put off, further each time. */
    public List<Owed> claimOwed(int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        """
                        UPDATE cleanup_owed SET tries = tries + 1, attempt = attempt + 1,
                            next_try_at = now()
                                + least(300, 5 * (tries + 1)) * interval '1 second'
                        WHERE (session_id, node_id) IN (SELECT session_id, node_id
                            FROM cleanup_owed WHERE next_try_at <= now()
                            ORDER BY next_try_at LIMIT ? FOR UPDATE SKIP LOCKED)
                        RETURNING session_id, node_id, operation_id, epoch, number,
                            attempt, tries, keeps_snapshots
                        """,
                        row ->
                                new Owed(
                                        new SessionId(row.getString("session_id")),
                                        row.getString("node_id"),
                                        new OperationId(row.getString("operation_id")),
                                        new Fence(
                                                row.getLong("epoch"),
                                                row.getLong("number"),
                                                row.getLong("attempt")),
                                        row.getInt("tries"),
                                        row.getBoolean("keeps_snapshots")),
                        max));
    }

    /** The node did it, or never had it. */
    public void paid(SessionId session, String node) {
        db.inOneStatement(tx ->
                tx.update(
                        "DELETE FROM cleanup_owed WHERE session_id = ? AND node_id = ?",
                        session,
                        node));
    }

    /** A node still has something of a session that is destroyed: it owes the clean-up again. */
    public void owe(SessionId session, String node, String why) {
        db.inOneStatement(tx ->
                tx.update(
                        """
                        INSERT INTO cleanup_owed (session_id, node_id, operation_id, epoch,
                            number, attempt, why)
                        SELECT id, ?, tombstone_operation, epoch, last_number,
                            fence_attempt + 1, ?
                        FROM sessions WHERE id = ? AND state = 'DESTROYED'
                        ON CONFLICT (session_id, node_id) DO UPDATE SET
                            operation_id = EXCLUDED.operation_id, epoch = EXCLUDED.epoch,
                            number = EXCLUDED.number, attempt = EXCLUDED.attempt,
                            why = EXCLUDED.why, keeps_snapshots = false
                            WHERE cleanup_owed.keeps_snapshots
                        """,
                        node,
                        why,
                        session));
    }

    /**
     * Sessions in id order that should have a workflow, for a scan in pages: those that are not
     * DESTROYED and were not touched lately.
     */
    public List<SessionRow> alive(String afterId, Duration untouched, int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT "
                                + SessionRow.COLUMNS
                                + " FROM sessions WHERE state <> 'DESTROYED' AND id > ? AND"
                                + " updated_at < now() - ?::bigint * interval '1"
                                + " millisecond' ORDER BY id LIMIT ?",
                        SessionRow::read,
                        afterId,
                        untouched.toMillis(),
                        max));
    }

    /** A session's row, read now. */
    public Optional<SessionRow> session(SessionId id) {
        return db.inOneStatement(tx -> tx.first(SessionRow.SELECT, SessionRow::read, id));
    }

    /** The rows of these sessions, as far as there are any. */
    public List<SessionRow> sessions(List<SessionId> ids) {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT " + SessionRow.COLUMNS + " FROM sessions WHERE id = ANY (?)",
                        SessionRow::read,
                        (Object) ids.stream().map(SessionId::value).toArray(String[]::new)));
    }

    /** One operation's row, read now. */
    public Optional<OperationRow> operation(OperationId id) {
        return db.inOneStatement(tx -> tx.first(OperationRow.SELECT, OperationRow::read, id));
    }

    /** When the platform brought the session back by itself and did not give up; newest first. */
    public List<Instant> recoveries(SessionId session, int max) {
        return db.inTransaction(tx ->
                tx.all(
                        "SELECT accepted_at FROM operations WHERE session_id = ? AND kind ="
                                + " 'RECOVER' AND actor = 'platform' AND number IS NOT NULL AND"
                                + " coalesce(error_code, '') NOT IN ('LIMIT_EXCEEDED', 'NODE_LOST')"
                                + " ORDER BY number DESC LIMIT ?",
                        row -> Objects.requireNonNull(Db.instant(row, "accepted_at")),
                        session,
                        max));
    }

    /** The CREATE of a session. */
    public Optional<OperationRow> createOf(SessionId session) {
        return db.inOneStatement(tx ->
                tx.first(
                        "SELECT "
                                + OperationRow.COLUMNS
                                + " FROM operations WHERE session_id = ? AND kind IN"
                                + " ('CREATE', 'BIND') ORDER BY requested_at LIMIT 1",
                        OperationRow::read,
                        session));
    }

    /** A listed snapshot of a session by its id. */
    public Optional<CommitStore.Snapshot> snapshot(SessionId session, String id) {
        return db.inOneStatement(tx -> listed(tx, session, id));
    }

    static Optional<CommitStore.Snapshot> listed(Db.Tx tx, SessionId session, String id)
            throws SQLException {
        return tx.first(SNAPSHOT + " AND state = 'LISTED'", RepairStore::snapshot, session, id);
    }

    /** The snapshot that an operation's row names, as the operation may use it. */
    public Optional<CommitStore.Snapshot> target(SessionRow session, OperationRow row) {
        return db.inOneStatement(tx -> target(tx, session, row));
    }

    static Optional<CommitStore.Snapshot> target(Db.Tx tx, SessionRow session, OperationRow row)
            throws SQLException {
        String id = row.snapshot();
        if (id == null) {
            return Optional.empty();
        }
        SessionId origin = origin(session, row);
        if (origin != null) {
            // of any state: whether it is still there the node knows, and whether it had begun
            return tx.first(SNAPSHOT, RepairStore::snapshot, origin, id);
        }
        Optional<CommitStore.Snapshot> target = listed(tx, session.id(), id);
        return target.isPresent() && isReachable(tx, session, row.kind(), target.get())
                ? target
                : Optional.empty();
    }

    /**
     * Children start where the snapshot is; the session itself goes back on its own node, or where
     * the snapshot is when it is on none. What the object store has can be had anywhere.
     */
    private static boolean isReachable(
            Db.Tx tx, SessionRow session, OperationKind kind, CommitStore.Snapshot snapshot)
            throws SQLException {
        boolean somewhere = !snapshot.node().isEmpty();
        boolean anywhere = kind == OperationKind.FORK || session.node() == null;
        boolean there = anywhere ? somewhere : snapshot.node().equals(session.node());
        return there || DurableRows.stored(tx, snapshot.id()).isPresent();
    }

    /** The session that the target is of, where the row is the CREATE of a fork's child. */
    public static @Nullable SessionId origin(SessionRow session, OperationRow row) {
        return row.kind() == OperationKind.CREATE && row.snapshot() != null
                ? session.origin()
                : null;
    }

    private static CommitStore.Snapshot snapshot(ResultSet row) throws SQLException {
        return snapshot(row, "id");
    }

    static CommitStore.Snapshot snapshot(ResultSet row, String id) throws SQLException {
        return new CommitStore.Snapshot(
                new SnapshotId(row.getString(id)),
                SnapshotKind.valueOf(row.getString("kind")),
                row.getString("node_id"),
                row.getLong("epoch"),
                row.getLong("stop"),
                row.getLong("bytes"),
                Objects.requireNonNull(Db.instant(row, "taken_at")));
    }

    /** Nodes whose lease ended inside the last period: their sessions are told. */
    public List<String> nodesLost(Duration since) {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT id FROM nodes WHERE lease_until < now() AND lease_until >"
                                + " now() - ?::bigint * interval '1 millisecond'",
                        row -> row.getString(1),
                        since.toMillis()));
    }

    /** Nodes that are alive, with their address. */
    public List<String> nodesAlive() {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT id FROM nodes WHERE lease_until >= now() ORDER BY id",
                        row -> row.getString(1)));
    }

    /** A VM that a row says is running, with nothing in flight that would change it. */
    public record RunningVm(SessionId session, Fence start) {}

    /** A VM that a node says it runs. */
    public record SeenVm(SessionId session, long epoch) {}

    /** Writes down what a node runs now; what is known and young enough is not written again. */
    public void seen(String node, List<SeenVm> running) {
        String[] ids = running.stream().map(vm -> vm.session().value()).toArray(String[]::new);
        String[] epochs =
                running.stream().map(vm -> Long.toString(vm.epoch())).toArray(String[]::new);
        db.inTransaction(tx -> {
            tx.update(
                    """
                    UPDATE sessions s SET seen_node = ?, seen_epoch = v.epoch::bigint,
                        seen_at = now()
                    FROM unnest(?::text[], ?::text[]) AS v (id, epoch)
                    WHERE s.id = v.id AND (s.seen_node IS DISTINCT FROM ?
                        OR s.seen_epoch IS DISTINCT FROM v.epoch::bigint
                        OR s.seen_at < now() - interval '1 minute')
                    """,
                    node,
                    ids,
                    epochs,
                    node);
            tx.update(
                    "UPDATE sessions SET seen_node = NULL, seen_epoch = NULL, seen_at = now()"
                            + " WHERE seen_node = ? AND NOT (id = ANY (?))",
                    node,
                    ids);
            return true;
        });
    }

    /** What should run on a node now. */
    public List<RunningVm> runningOn(String node, int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT id, vm_epoch, vm_number, vm_attempt FROM sessions WHERE node_id = ?"
                                + " AND state = 'RUNNING' AND operation_id IS NULL"
                                + " AND tombstone_at IS NULL AND vm_number > 0"
                                + " ORDER BY id LIMIT ?",
                        row ->
                                new RunningVm(
                                        new SessionId(row.getString("id")),
                                        new Fence(
                                                row.getLong("vm_epoch"),
                                                row.getLong("vm_number"),
                                                row.getLong("vm_attempt"))),
                        node,
                        max));
    }

    /** Sessions that live on a node. */
    public List<SessionId> sessionsOn(String node, int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT id FROM sessions WHERE node_id = ? AND state <> 'DESTROYED'"
                                + " ORDER BY id LIMIT ?",
                        row -> new SessionId(row.getString(1)),
                        node,
                        max));
    }

    /** Keys older than their time whose operation has ended. */
    public int expireKeys(Duration age) {
        return db.inOneStatement(tx ->
                tx.update(
                        "DELETE FROM idempotency_keys k USING operations o WHERE o.id ="
                                + " k.operation_id AND o.ended_at IS NOT NULL AND k.created_at <"
                                + " now() - ?::bigint * interval '1 millisecond'",
                        age.toMillis()));
    }

    /** True for the one instance that holds this turn of a periodic task. */
    public boolean withTurn(long lock, Runnable work) {
        return db.inTransaction(tx -> {
            boolean mine =
                    tx.first("SELECT pg_try_advisory_xact_lock(?)", row -> row.getBoolean(1), lock)
                            .orElse(false);
            if (mine) {
                work.run();
            }
            return mine;
        });
    }
}
