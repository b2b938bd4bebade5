package dev.space.store;

import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Optional;

/** The sealed keys of lineages. This class never sees a plain one. */
@Singleton
public class LineageRows {
    private final Db db;

    @Inject
    public LineageRows(Db db) {
        this.db = db;
    }

    /**
     * The lineage of a session for a node that works with it: the one that the session is on, or is
     * being started on. Empty for every other node, and for a session that is destroyed.
     */
    public Optional<String> lineage(SessionId session, String node) {
        return db.inOneStatement(tx ->
                tx.first(
                        "SELECT lineage_id FROM sessions WHERE id = ? AND node_id = ? AND state <>"
                                + " ? AND tombstone_at IS NULL",
                        row -> row.getString(1),
                        session,
                        node,
                        SessionState.DESTROYED));
    }

    /** A snapshot that is stored whole, as whoever checks it must name it. */
    public record Stored(String lineage, String manifestKey, String manifestDigest) {}

    /** For whoever is given the key of a stored snapshot: an event says so, whatever follows. */
    public Optional<Stored> export(SnapshotId snapshot, String actor) {
        return db.inTransaction(tx -> {
            Optional<Stored> stored =
                    tx.first(
                            "SELECT lineage_id, manifest_key, manifest_digest FROM"
                                    + " durable_snapshots WHERE snapshot_id = ? AND state ="
                                    + " 'COMPLETE'",
                            row -> new Stored(row.getString(1), row.getString(2), row.getString(3)),
                            snapshot);
            if (stored.isPresent()) {
                tx.update(
                        "INSERT INTO events (project_id, session_id, actor, action, object,"
                                + " outcome) SELECT s.project_id, s.id, ?, 'export_key', p.id, 'OK'"
                                + " FROM snapshots p JOIN sessions s ON s.id = p.session_id"
                                + " WHERE p.id = ?",
                        actor,
                        snapshot);
            }
            return stored;
        });
    }

    /** The key that is there. */
    public Optional<Blob> key(String lineage) {
        return db.inOneStatement(tx ->
                tx.first(
                        "SELECT key_encrypted FROM lineages WHERE id = ?",
                        row -> Blob.of(row.getBytes(1)),
                        lineage));
    }

    /** Keeps a new key unless another was faster; answers the one that counts. */
    public Blob keep(String lineage, Blob sealed) {
        return db.inTransaction(tx -> {
            tx.update(
                    "INSERT INTO lineages (id, key_encrypted) VALUES (?, ?) ON CONFLICT (id) DO"
                            + " NOTHING",
                    lineage,
                    sealed);
            return tx.first(
                            "SELECT key_encrypted FROM lineages WHERE id = ?",
                            row -> Blob.of(row.getBytes(1)),
                            lineage)
                    .orElseThrow();
        });
    }
}
