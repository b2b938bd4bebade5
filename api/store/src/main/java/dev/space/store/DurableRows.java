package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the object store has, row by row: PENDING before the first byte is sent, COMPLETE with the
 * commit that makes the session durable, GARBAGE with any other end. Only COMPLETE is ever
 * restored.
 */
@Singleton
public class DurableRows {
    private static final String STORED =
            "SELECT d.id, d.lineage_id, d.manifest_key, d.manifest_digest, d.bytes_stored,"
                    + " d.bytes_uploaded, d.bytes_logical, p.id AS snapshot_id, p.kind,"
                    + " coalesce(p.node_id, '') AS node_id, p.epoch, p.stop, p.bytes, p.taken_at"
                    + " FROM durable_snapshots d JOIN snapshots p ON p.id = d.snapshot_id";

    private static final String RESTORABLE =
            STORED + " WHERE d.state = 'COMPLETE' AND p.state = 'LISTED'";

    private final Db db;

    @Inject
    public DurableRows(Db db) {
        this.db = db;
    }

    /** A snapshot that is stored whole. */
    public record Stored(
            CommitStore.Snapshot snapshot,
            String lineage,
            String manifestKey,
            String manifestDigest,
            long bytesStored,
            long bytesUploaded,
            long bytesLogical) {}

    /**
     * An upload is written down.
     *
     * @param written false: the row's fence refused the write
     * @param number of the upload
     * @param previous newest of the lineage when it began; only what changed since is sent
     * @param complete this snapshot is stored already
     */
    public record Begun(
            boolean written,
            @Nullable OperationId tombstone,
            long number,
            String lineage,
            @Nullable Stored previous,
            @Nullable Stored complete) {}

    /** Before the first byte; asking twice answers the same number. Lists the snapshot too. */
    public Begun begin(
            SessionId session, OperationId operation, Fence fence, CommitStore.Snapshot snapshot) {
        return db.inTransaction(tx -> {
            SessionRow row = AcceptStore.lock(tx, session).orElse(null);
            OperationRow found =
                    tx.first(OperationRow.SELECT, OperationRow::read, operation).orElse(null);
            if (row == null || found == null || CommitStore.isRefused(row, found, fence)) {
                OperationId tombstone = row == null ? null : row.tombstone();
                return new Begun(false, tombstone, 0, "", null, null);
            }
            CommitStore.listSnapshots(tx, session, operation, List.of(snapshot), 0);
            tx.update(
                    "UPDATE sessions SET fence_attempt = ? WHERE id = ?", fence.attempt(), session);
            CommitStore.refreshDurability(tx, session);
            String lineage = lineage(tx, session);
            long number = number(tx, session, operation, snapshot.id(), lineage);
            return new Begun(
                    true,
                    row.tombstone(),
                    number,
                    lineage,
                    previous(tx, number).orElse(null),
                    stored(tx, snapshot.id()).orElse(null));
        });
    }

    private static String lineage(Db.Tx tx, SessionId session) throws SQLException {
        return tx.first(
                        "SELECT lineage_id FROM sessions WHERE id = ?",
                        row -> row.getString(1),
                        session)
                .orElseThrow();
    }

    private static long number(
            Db.Tx tx, SessionId session, OperationId operation, SnapshotId snapshot, String lineage)
            throws SQLException {
        tx.update(
                """
                INSERT INTO durable_snapshots (snapshot_id, session_id, operation_id, lineage_id,
                    previous_id)
                VALUES (?, ?, ?, ?, (SELECT d.id FROM durable_snapshots d
                    JOIN snapshots p ON p.id = d.snapshot_id
                    WHERE d.lineage_id = ? AND d.state = 'COMPLETE' AND p.state = 'LISTED'
                    ORDER BY (d.session_id = ?) DESC, p.epoch DESC, p.stop DESC,
                        d.completed_at DESC LIMIT 1))
                ON CONFLICT (snapshot_id, operation_id) DO NOTHING
                """,
                snapshot,
                session,
                operation,
                lineage,
                lineage,
                session);
        return tx.first(
                        "SELECT id FROM durable_snapshots WHERE snapshot_id = ? AND operation_id ="
                                + " ?",
                        row -> row.getLong(1),
                        snapshot,
                        operation)
                .orElseThrow();
    }

    /** Chosen once: the session's own newest, else the one that the lineage stored last. */
    private static Optional<Stored> previous(Db.Tx tx, long number) throws SQLException {
        return tx.first(
                STORED + " WHERE d.id = (SELECT previous_id FROM durable_snapshots WHERE id = ?)",
                DurableRows::read,
                number);
    }

    static Optional<Stored> stored(Db.Tx tx, SnapshotId snapshot) throws SQLException {
        return tx.first(RESTORABLE + " AND p.id = ?", DurableRows::read, snapshot);
    }

    /** The snapshot, where it is stored whole. */
    public Optional<Stored> find(SnapshotId snapshot) {
        return db.inOneStatement(tx -> stored(tx, snapshot));
    }

    private static Stored read(ResultSet row) throws SQLException {
        return new Stored(
                RepairStore.snapshot(row, "snapshot_id"),
                row.getString("lineage_id"),
                row.getString("manifest_key"),
                row.getString("manifest_digest"),
                row.getLong("bytes_stored"),
                row.getLong("bytes_uploaded"),
                row.getLong("bytes_logical"));
    }

    private static boolean isUpload(OperationKind kind) {
        return kind == OperationKind.SUSPEND || kind == OperationKind.CHECKPOINT;
    }

    /** In the commit of its SUSPEND or CHECKPOINT: from here on it can be restored. */
    static void complete(Db.Tx tx, CommitStore.Commit commit, OperationRow operation)
            throws SQLException {
        Stored stored = commit.durable();
        if (stored == null
                || !isUpload(operation.kind())
                || commit.outcome() != OperationState.DONE) {
            return;
        }
        int done =
                tx.update(
                        """
                        UPDATE durable_snapshots SET state = 'COMPLETE', manifest_key = ?,
                            manifest_digest = ?, bytes_stored = ?, bytes_uploaded = ?,
                            bytes_logical = ?, completed_at = now()
                        WHERE operation_id = ? AND snapshot_id = ? AND state = 'PENDING'
                            AND NOT EXISTS (SELECT 1 FROM durable_snapshots d
                                WHERE d.snapshot_id = durable_snapshots.snapshot_id
                                    AND d.state = 'COMPLETE')
                        """,
                        stored.manifestKey(),
                        stored.manifestDigest(),
                        stored.bytesStored(),
                        stored.bytesUploaded(),
                        stored.bytesLogical(),
                        operation.id(),
                        stored.snapshot().id());
        if (done == 0 && stored(tx, stored.snapshot().id()).isEmpty()) {
            throw new SpaceException(
                    ErrorCode.INTERNAL,
                    "snapshot " + stored.snapshot().id() + " would be durable without an upload");
        }
        tx.update(
                "UPDATE snapshots SET durability = 'DURABLE' WHERE id = ?", stored.snapshot().id());
    }

    /**
     * An upload that the object store must not forget.
     *
     * @param complete false: it is PENDING, and its manifest is not known yet
     * @param previousKey manifest of what it is built on, which must stay with it
     */
    public record Reference(
            long number,
            SessionId session,
            String lineage,
            boolean complete,
            @Nullable String manifestKey,
            @Nullable String manifestDigest,
            @Nullable String previousKey,
            @Nullable String previousDigest) {}

    /**
     * Everything that is stored or on its way, in the order of its numbers, for a scan in pages.
     * Whoever removes from the object store reads all of it before it looks what is there.
     */
    public List<Reference> references(long after, int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        """
                        SELECT d.id, d.session_id, d.lineage_id, d.state, d.manifest_key,
                            d.manifest_digest, b.manifest_key AS previous_key,
                            b.manifest_digest AS previous_digest
                        FROM durable_snapshots d
                        LEFT JOIN durable_snapshots b ON b.id = d.previous_id
                            AND d.state = 'PENDING'
                        WHERE d.state IN ('PENDING', 'COMPLETE') AND d.id > ?
                        ORDER BY d.id LIMIT ?
                        """,
                        row ->
                                new Reference(
                                        row.getLong("id"),
                                        new SessionId(row.getString("session_id")),
                                        row.getString("lineage_id"),
                                        "COMPLETE".equals(row.getString("state")),
                                        row.getString("manifest_key"),
                                        row.getString("manifest_digest"),
                                        row.getString("previous_key"),
                                        row.getString("previous_digest")),
                        after,
                        max));
    }

    /** A copy on a node's disk of what the object store has whole. */
    public record Copy(SessionId session, SnapshotId snapshot) {}

    /** Of sessions that are not on that node, and that nothing is at work on; oldest first. */
    public List<Copy> copiesOn(String node, int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        """
                        SELECT p.session_id, p.id FROM snapshots p
                        JOIN sessions s ON s.id = p.session_id
                        WHERE p.node_id = ? AND p.state = 'LISTED' AND p.durability = 'DURABLE'
                            AND s.node_id IS DISTINCT FROM p.node_id AND s.operation_id IS NULL
                        ORDER BY p.taken_at, p.id LIMIT ?
                        """,
                        row ->
                                new Copy(
                                        new SessionId(row.getString("session_id")),
                                        new SnapshotId(row.getString("id"))),
                        node,
                        max));
    }

    /** Uploads whose operation has ended without them; the trigger leaves none, as a rule. */
    public int giveUpDead() {
        return db.inOneStatement(tx ->
                tx.update(
                        "UPDATE durable_snapshots d SET state = 'GARBAGE' FROM operations o WHERE"
                                + " o.id = d.operation_id AND d.state = 'PENDING' AND o.ended_at IS"
                                + " NOT NULL"));
    }
}
