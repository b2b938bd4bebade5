package dev.space.store;

import dev.space.model.Size;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Chooses a node: alive (its lease runs), with the template, the engine, a slot, memory and disk.
 * Of those the one with the fewest sandboxes wins. Nothing is reserved: the node itself refuses
 * what it has no room for, and the workflow then moves on.
 */
final class Placement {
    static final String NO_ROOM =
            "no node that is alive has the template and a free slot, memory and disk; see /v1/nodes";

    /** Below this a node takes no new sandbox, so that btrfs is never driven to its end. */
    static final long DISK_FREE_BYTES_MIN = 512L << 20;

    private static final String CHOOSE =
            """
            SELECT id FROM (
                SELECT n.id, n.slots, n.memory_free_bytes,
                    (SELECT count(*) FROM sessions s WHERE s.node_id = n.id
                        AND s.state IN ('NEW','WARM','RUNNING') AND s.id <> ?) AS used
                FROM nodes n
                WHERE n.lease_until > now()
                    AND (?::text IS NULL OR n.id <> ?)
                    AND (?::text IS NULL OR n.id = ?)
                    AND (?::text IS NULL OR n.engine = ?)
                    AND n.memory_free_bytes >= ?
                    AND n.disk_free_bytes >= ?
                    AND EXISTS (SELECT 1 FROM node_templates t
                        WHERE t.node_id = n.id AND t.digest = ?)
            ) candidates
            WHERE used < slots
            ORDER BY (id = ?::text) IS TRUE DESC, used::double precision / slots,
                memory_free_bytes DESC, random()
            LIMIT 1
            """;

    private Placement() {}

    static Optional<String> choose(Db.Tx tx, SessionRow session, @Nullable String except)
            throws SQLException {
        return choose(tx, session, except, null, null);
    }

    /** Any node, but this one before all others: it has a copy of what is to be started. */
    static Optional<String> near(Db.Tx tx, SessionRow session, @Nullable String node)
            throws SQLException {
        return choose(tx, session, null, null, node);
    }

    /** This node, where it is alive and has room. */
    static Optional<String> only(Db.Tx tx, SessionRow session, String node) throws SQLException {
        return choose(tx, session, null, node, null);
    }

    private static Optional<String> choose(
            Db.Tx tx,
            SessionRow session,
            @Nullable String except,
            @Nullable String only,
            @Nullable String near)
            throws SQLException {
        Size size = Size.fromWireName(session.size()).orElseThrow();
        return tx.first(
                CHOOSE,
                row -> row.getString("id"),
                session.id(),
                except,
                except,
                only,
                only,
                session.engine(),
                session.engine(),
                (long) size.memoryMiB() << 20,
                DISK_FREE_BYTES_MIN,
                session.templateDigest(),
                near);
    }
}
