package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Snapshots that nodes make and remove by themselves, and those that users delete. The node has the
 * truth of what is there; every change here can be made again from its inventory.
 */
@Singleton
public class SnapshotRows {
    /** Snapshots of one session that are compared at once; more than a node keeps. */
    private static final int ROWS_MAX = 10_000;

    private final Db db;

    @Inject
    public SnapshotRows(Db db) {
        this.db = db;
    }

    /** A snapshot as its row says. */
    public record Row(SnapshotId id, boolean listed, boolean marked, boolean old) {}

    /**
     * Lists a snapshot that the node made by itself; one that is known stays as it is. False when
     * the session has nothing to do with that node any more.
     */
    public boolean taken(SessionId session, CommitStore.Snapshot snapshot, boolean quiesced) {
        return db.inTransaction(tx -> {
            SessionRow row = AcceptStore.lock(tx, session).orElse(null);
            boolean belongs =
                    row != null
                            && row.state() != SessionState.DESTROYED
                            && row.tombstone() == null
                            && snapshot.node().equals(row.node())
                            && snapshot.epoch() <= row.epoch();
            if (!belongs) {
                return false;
            }
            int added =
                    tx.update(
                            """
                            INSERT INTO snapshots (id, session_id, kind, state, node_id, epoch,
                                stop, bytes, taken_at, reason, quiesced)
                            VALUES (?, ?, ?, 'LISTED', ?, ?, ?, ?, ?, 'ROLLING', ?)
                            ON CONFLICT (id) DO NOTHING
                            """,
                            snapshot.id(),
                            session,
                            snapshot.kind(),
                            snapshot.node(),
                            snapshot.epoch(),
                            snapshot.stop(),
                            snapshot.bytes(),
                            snapshot.takenAt(),
                            quiesced);
            if (added > 0) {
                CommitStore.refreshDurability(tx, session);
            }
            return true;
        });
    }

    /**
     * The node has these no more. Rows that an operation made stay as its history; what the object
     * store has is on no node then, and still there.
     */
    public void gone(SessionId session, String node, Collection<SnapshotId> snapshots) {
        String[] ids = snapshots.stream().map(SnapshotId::value).toArray(String[]::new);
        db.inTransaction(tx -> {
            if (AcceptStore.lock(tx, session).isEmpty()) {
                return false;
            }
            tx.update(
                    "DELETE FROM snapshots WHERE session_id = ? AND node_id = ? AND id = ANY (?)"
                            + " AND operation_id IS NULL AND durability = 'LOCAL'",
                    session,
                    node,
                    ids);
            tx.update(
                    "UPDATE snapshots SET node_id = NULL WHERE session_id = ? AND node_id = ?"
                            + " AND id = ANY (?) AND durability = 'DURABLE'",
                    session,
                    node,
                    ids);
            tx.update(
                    "UPDATE snapshots SET state = 'DELETED' WHERE session_id = ? AND node_id = ?"
                            + " AND id = ANY (?)",
                    session,
                    node,
                    ids);
            CommitStore.refreshDurability(tx, session);
            return true;
        });
    }

    /**
     * The node is going to remove a copy of what is stored. False where the session is on that node
     * by now, or something is at work on it that may start from the copy. From here on nobody is
     * sent to that copy.
     */
    public boolean evict(SessionId session, String node, SnapshotId snapshot) {
        return db.inTransaction(tx -> {
            SessionRow row = AcceptStore.lock(tx, session).orElse(null);
            if (row == null || row.operation() != null || node.equals(row.node())) {
                return false;
            }
            return tx.update(
                            "UPDATE snapshots SET node_id = NULL WHERE id = ? AND session_id = ?"
                                    + " AND node_id = ? AND durability = 'DURABLE'",
                            snapshot,
                            session,
                            node)
                    > 0;
        });
    }

    /** The copy that was to go may still be there: it is tried again. */
    public void notEvicted(SnapshotId snapshot, String node) {
        db.inOneStatement(tx ->
                tx.update(
                        "UPDATE snapshots SET node_id = ? WHERE id = ? AND node_id IS NULL"
                                + " AND state = 'LISTED'",
                        node,
                        snapshot));
    }

    /** What the rows say that a node has of a session; deleted ones too. */
    public List<Row> on(SessionId session, String node, Duration old) {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT id, state = 'LISTED', quiesced IS NOT NULL, created_at < now()"
                                + " - ?::bigint * interval '1 millisecond' FROM snapshots"
                                + " WHERE session_id = ? AND node_id = ? LIMIT ?",
                        row ->
                                new Row(
                                        new SnapshotId(row.getString(1)),
                                        row.getBoolean(2),
                                        row.getBoolean(3),
                                        row.getBoolean(4)),
                        old.toMillis(),
                        session,
                        node,
                        ROWS_MAX));
    }

    /** Whether the guest held still, where only the node knows. */
    public void mark(SnapshotId snapshot, boolean quiesced) {
        db.inOneStatement(tx ->
                tx.update(
                        "UPDATE snapshots SET quiesced = ? WHERE id = ? AND quiesced IS NULL",
                        quiesced,
                        snapshot));
    }

    /** The node that has what was deleted. */
    public record Deleted(@Nullable String node) {}

    /**
     * Deletes a snapshot for a user. Refused where the session stands on it: what it would resume
     * or recover from, or what an operation under way names.
     */
    public Deleted delete(SessionId session, SnapshotId snapshot, String actor) {
        return delete(session, snapshot, actor, "OK");
    }

    /**
     * The same for the platform; its node is told when it is compared.
     *
     * @param outcome of the event that says so
     */
    public Deleted delete(SessionId session, SnapshotId snapshot, String actor, String outcome) {
        return db.inTransaction(tx -> {
            SessionRow row =
                    AcceptStore.lock(tx, session)
                            .orElseThrow(() ->
                                    new SpaceException(
                                            ErrorCode.NOT_FOUND, "there is no " + session));
            if (row.state() == SessionState.DESTROYED || row.tombstone() != null) {
                throw new SpaceException(ErrorCode.GONE, "the session was destroyed");
            }
            Optional<CommitStore.Snapshot> found =
                    RepairStore.listed(tx, session, snapshot.value());
            if (found.isEmpty()) {
                throw new SpaceException(
                        ErrorCode.SNAPSHOT_NOT_FOUND, "the session has no snapshot " + snapshot);
            }
            String use = use(tx, row, snapshot);
            if (use != null) {
                throw new SpaceException(ErrorCode.SNAPSHOT_IN_USE, use);
            }
            tx.update("UPDATE snapshots SET state = 'DELETED' WHERE id = ?", snapshot);
            CommitStore.refreshDurability(tx, session);
            tx.update(
                    """
                    INSERT INTO events (project_id, session_id, actor, action, object, outcome,
                        epoch, node_id)
                    SELECT project_id, id, ?, 'delete_snapshot', ?, ?, epoch, ?
                    FROM sessions WHERE id = ?
                    """,
                    actor,
                    snapshot,
                    outcome,
                    found.get().node(),
                    session);
            return new Deleted(found.get().node());
        });
    }

    private static @Nullable String use(Db.Tx tx, SessionRow row, SnapshotId snapshot)
            throws SQLException {
        if (snapshot.value().equals(row.snapshot())) {
            return row.state() == SessionState.RUNNING
                    ? "a recovery would start from it; take a checkpoint first"
                    : "the session would start from it; resume or roll back first";
        }
        if (row.state() == SessionState.FAILED && snapshot.value().equals(row.preserved())) {
            return "it is all that is left of the failed sandbox; recover first";
        }
        boolean named =
                tx.first(
                                "SELECT 1 FROM operations WHERE snapshot_id = ? AND ended_at IS"
                                        + " NULL LIMIT 1",
                                found -> true,
                                snapshot)
                        .isPresent();
        return named ? "an operation under way starts from it; try again when it ended" : null;
    }
}
