package dev.space.store;

import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The sealed keys of lineages. This class never sees a plain one. */
@Singleton
public class LineageRows {
    private static final String TO_WRAP =
            "FROM lineages l LEFT JOIN customer_keys k ON k.organisation_id = ? AND k.current"
                    + " WHERE EXISTS (SELECT 1 FROM sessions s JOIN projects p ON p.id ="
                    + " s.project_id WHERE s.lineage_id = l.id AND p.organisation_id = ? AND s.state <>"
                    + " 'DESTROYED')"
                    + " AND (l.wrapped_by IS DISTINCT FROM k.id OR l.wrapped_at < k.rewrap_before)";

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

    /**
     * A key as it is kept.
     *
     * @param customerKey what wraps it besides the platform's key; null: nothing
     */
    public record Kept(Blob sealed, @Nullable String customerKey) {
        private static Kept read(ResultSet row) throws SQLException {
            return new Kept(Blob.of(row.getBytes("key_encrypted")), row.getString("wrapped_by"));
        }
    }

    /** The key that is there. */
    public Optional<Kept> key(String lineage) {
        return db.inOneStatement(tx -> key(tx, lineage));
    }

    private static Optional<Kept> key(Db.Tx tx, String lineage) throws SQLException {
        return tx.first(
                "SELECT key_encrypted, wrapped_by FROM lineages WHERE id = ?", Kept::read, lineage);
    }

    /** Keeps a new key unless another was faster; answers the one that counts. */
    public Kept keep(String lineage, Kept fresh) {
        return db.inTransaction(tx -> {
            tx.update(
                    "INSERT INTO lineages (id, key_encrypted, wrapped_by) VALUES (?, ?, ?) ON"
                            + " CONFLICT (id) DO NOTHING",
                    lineage,
                    fresh.sealed(),
                    fresh.customerKey());
            return key(tx, lineage).orElseThrow();
        });
    }

    /** The organisation of a lineage's sessions; the installation's templates have none. */
    public Optional<String> organisation(String lineage) {
        return db.inOneStatement(tx ->
                tx.first(
                        "SELECT p.organisation_id FROM sessions s JOIN projects p ON p.id ="
                                + " s.project_id WHERE s.lineage_id = ? LIMIT 1",
                        row -> row.getString(1),
                        lineage));
    }

    /**
     * Lineages of sessions that are alive, whose key is not wrapped as their organisation wants it
     * now.
     */
    public List<String> toWrap(String organisation, int most) {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT l.id " + TO_WRAP + " ORDER BY l.id LIMIT ?",
                        row -> row.getString(1),
                        organisation,
                        organisation,
                        most));
    }

    /** How many there are. */
    public long waiting(String organisation) {
        return db.inOneStatement(tx ->
                        tx.first(
                                "SELECT count(*) " + TO_WRAP,
                                row -> row.getLong(1),
                                organisation,
                                organisation))
                .orElseThrow();
    }

    /** How many a customer's key protects. */
    public long wrapped(String customerKey) {
        return db.inOneStatement(tx ->
                        tx.first(
                                "SELECT count(*) FROM lineages WHERE wrapped_by = ?",
                                row -> row.getLong(1),
                                customerKey))
                .orElseThrow();
    }

    /** Replaces what is kept, unless somebody else did meanwhile. */
    public boolean wrap(String lineage, Kept before, Kept after) {
        return db.inOneStatement(tx ->
                tx.update(
                                "UPDATE lineages SET key_encrypted = ?, wrapped_by = ?, wrapped_at"
                                        + " = now() WHERE id = ? AND key_encrypted = ?",
                                after.sealed(),
                                after.customerKey(),
                                lineage,
                                before.sealed())
                        == 1);
    }

    /** Forgets keys that are not current and wrap nothing any more. */
    public void forgetUnused() {
        var _ =
                db.inOneStatement(tx ->
                        tx.update(
                                "DELETE FROM customer_keys k WHERE NOT k.current AND NOT EXISTS"
                                        + " (SELECT 1 FROM lineages l WHERE l.wrapped_by = k.id)"));
    }
}
