package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Templates in the object store, row by row: PENDING before the first byte is sent, COMPLETE when
 * all of it was checked, GARBAGE with any other end. One upload at most is on its way for each, and
 * only COMPLETE is ever fetched.
 */
@Singleton
public class TemplateRows {
    /** Names what all templates share in the object store: the keys and the chunks. */
    public static final String LINEAGE = "templates";

    /** A node that is away for so long does not go on with what it was sending. */
    private static final String GONE_AFTER = "interval '15 minutes'";

    /** Young ones stay whoever needs them: a session may just be on its way. */
    private static final String KEPT_FOR = "interval '1 day'";

    private static final String STORED =
            "SELECT id, digest, name, manifest_key, manifest_digest, bytes_stored, bytes_uploaded,"
                    + " bytes_logical FROM stored_templates";

    private final Db db;

    @Inject
    public TemplateRows(Db db) {
        this.db = db;
    }

    /** A template that is stored whole. */
    public record Stored(
            String digest,
            String name,
            String manifestKey,
            String manifestDigest,
            long bytesStored,
            long bytesUploaded,
            long bytesLogical) {}

    /**
     * An upload is written down.
     *
     * @param previous what it may build on; chosen once
     */
    public record Begun(long number, Optional<Stored> previous) {}

    private static Stored read(ResultSet row) throws SQLException {
        return new Stored(
                row.getString("digest"),
                row.getString("name"),
                row.getString("manifest_key"),
                row.getString("manifest_digest"),
                row.getLong("bytes_stored"),
                row.getLong("bytes_uploaded"),
                row.getLong("bytes_logical"));
    }

    /**
     * Before the first byte; asking again answers the same number. Empty where it is stored, or
     * another node that has it is sending it: one that is gone loses its turn.
     */
    public Optional<Begun> begin(String node, String digest, String name) {
        return db.inTransaction(tx -> {
            tx.update(
                    "UPDATE stored_templates t SET state = 'GARBAGE' WHERE digest = ? AND state ="
                            + " 'PENDING' AND node_id <> ? AND NOT EXISTS (SELECT FROM nodes n"
                            + " JOIN node_templates m ON m.node_id = n.id AND m.digest = t.digest"
                            + " WHERE n.id = t.node_id AND n.lease_until > now() - "
                            + GONE_AFTER
                            + ")",
                    digest,
                    node);
            tx.update(
                    """
                    INSERT INTO stored_templates (digest, name, node_id, previous_id)
                    VALUES (?, ?, ?, (SELECT id FROM stored_templates WHERE state = 'COMPLETE'
                        ORDER BY (name = ?) DESC, completed_at DESC LIMIT 1))
                    ON CONFLICT (digest) WHERE state IN ('PENDING', 'COMPLETE') DO NOTHING
                    """,
                    digest,
                    name,
                    node,
                    name);
            Optional<Long> number =
                    tx.first(
                            "SELECT id FROM stored_templates WHERE digest = ? AND state ="
                                    + " 'PENDING' AND node_id = ?",
                            row -> row.getLong(1),
                            digest,
                            node);
            return number.isEmpty()
                    ? Optional.<Begun>empty()
                    : Optional.of(new Begun(number.get(), previous(tx, number.get())));
        });
    }

    private static Optional<Stored> previous(Db.Tx tx, long number) throws SQLException {
        return tx.first(
                STORED + " WHERE id = (SELECT previous_id FROM stored_templates WHERE id = ?)",
                TemplateRows::read,
                number);
    }

    /** From here on it can be fetched. Saying it twice is saying it once. */
    public void complete(String node, long number, Stored stored) {
        int done =
                db.inTransaction(tx -> {
                    int written =
                            tx.update(
                                    """
                                    UPDATE stored_templates SET state = 'COMPLETE',
                                        manifest_key = ?, manifest_digest = ?, bytes_stored = ?,
                                        bytes_uploaded = ?, bytes_logical = ?, completed_at = now()
                                    WHERE id = ? AND node_id = ? AND digest = ?
                                        AND state = 'PENDING'
                                    """,
                                    stored.manifestKey(),
                                    stored.manifestDigest(),
                                    stored.bytesStored(),
                                    stored.bytesUploaded(),
                                    stored.bytesLogical(),
                                    number,
                                    node,
                                    stored.digest());
                    return written > 0
                            ? written
                            : tx.first(
                                            "SELECT count(*) FROM stored_templates WHERE id = ? AND"
                                                    + " node_id = ? AND state = 'COMPLETE'"
                                                    + " AND manifest_digest = ?",
                                            row -> row.getInt(1),
                                            number,
                                            node,
                                            stored.manifestDigest())
                                    .orElse(0);
                });
        if (done == 0) {
            throw new SpaceException(
                    ErrorCode.STALE_FENCE,
                    "upload %d of template %s is not node %s's any more"
                            .formatted(number, stored.digest(), node));
        }
    }

    /** Where it is stored whole. */
    public Optional<Stored> find(String digest) {
        return db.inOneStatement(tx ->
                tx.first(
                        STORED + " WHERE digest = ? AND state = 'COMPLETE'",
                        TemplateRows::read,
                        digest));
    }

    /**
     * An upload that the object store must not forget.
     *
     * @param previousKey manifest of what a PENDING one is built on
     */
    public record Reference(
            long number,
            String digest,
            boolean complete,
            @Nullable String manifestKey,
            @Nullable String manifestDigest,
            @Nullable String previousKey,
            @Nullable String previousDigest) {}

    /** As {@link DurableRows#references}. */
    public List<Reference> references(long after, int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        """
                        SELECT t.id, t.digest, t.state, t.manifest_key, t.manifest_digest,
                            b.manifest_key AS previous_key, b.manifest_digest AS previous_digest
                        FROM stored_templates t
                        LEFT JOIN stored_templates b ON b.id = t.previous_id
                            AND t.state = 'PENDING'
                        WHERE t.state IN ('PENDING', 'COMPLETE') AND t.id > ?
                        ORDER BY t.id LIMIT ?
                        """,
                        row ->
                                new Reference(
                                        row.getLong("id"),
                                        row.getString("digest"),
                                        "COMPLETE".equals(row.getString("state")),
                                        row.getString("manifest_key"),
                                        row.getString("manifest_digest"),
                                        row.getString("previous_key"),
                                        row.getString("previous_digest")),
                        after,
                        max));
    }

    /**
     * Gives up those that no session, no node and no name needs: each build of an installation
     * leaves one behind.
     */
    public int giveUpUnused() {
        return db.inOneStatement(tx ->
                tx.update(
                        """
                        UPDATE stored_templates t SET state = 'GARBAGE'
                        WHERE t.state = 'COMPLETE' AND t.completed_at < now() - %s
                            AND NOT EXISTS (SELECT FROM sessions s
                                WHERE s.template_digest = t.digest AND s.state <> 'DESTROYED')
                            AND NOT EXISTS (SELECT FROM node_templates n
                                WHERE n.digest = t.digest)
                            AND EXISTS (SELECT FROM stored_templates o WHERE o.name = t.name
                                AND o.state = 'COMPLETE' AND o.completed_at > t.completed_at)
                        """
                                .formatted(KEPT_FOR)));
    }
}
