package dev.space.store;

import dev.space.model.SessionId;
import dev.space.model.SessionState;
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
