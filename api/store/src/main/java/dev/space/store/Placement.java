package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.Size;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Chooses a node: alive (its lease runs), not being drained, with the engine, a slot, memory, disk
 * and the template, or with the object store to fetch it from. Of those that have it the one with
 * the fewest sandboxes wins, then of the others. Nothing is reserved: the node itself refuses what
 * it has no room for, and the workflow then moves on.
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
                WHERE n.lease_until > now() AND NOT n.cordoned
                    AND (?::text IS NULL OR n.id <> ?)
                    AND (?::text IS NULL OR n.id = ?)
                    AND (?::text IS NULL OR n.engine = ?)
                    AND n.memory_free_bytes >= ?
                    AND n.disk_free_bytes >= ?
                    AND (EXISTS (SELECT 1 FROM node_templates t
                            WHERE t.node_id = n.id AND t.digest = ?)
                        OR EXISTS (SELECT 1 FROM stored_templates t
                            WHERE t.digest = ? AND t.state = 'COMPLETE'))
            ) candidates
            WHERE used < slots
            ORDER BY (id = ?::text) IS TRUE DESC, EXISTS (SELECT 1 FROM node_templates t
                    WHERE t.node_id = candidates.id AND t.digest = ?) DESC,
                used::double precision / slots,
                memory_free_bytes DESC, random()
            LIMIT 1
            """;

    /** Nodes that have the template, as far as they are the ones that were asked for. */
    private static final String WITH_TEMPLATE =
            """
            SELECT n.id, n.lease_until, n.lease_until > now() AS alive, count(*) OVER () AS nodes
            FROM nodes n
            WHERE (?::text IS NULL OR n.id = ?)
                AND (?::text IS NULL OR n.engine = ?)
                AND (EXISTS (SELECT 1 FROM node_templates t
                        WHERE t.node_id = n.id AND t.digest = ?)
                    OR EXISTS (SELECT 1 FROM stored_templates t
                        WHERE t.digest = ? AND t.state = 'COMPLETE'))
            ORDER BY n.lease_until DESC
            LIMIT 1
            """;

    /** Why no node was chosen. */
    record Unplaced(ErrorCode code, String detail) {}

    private Placement() {}

    /** Tells nodes that are full from nodes that are away; {@code only} as it was placed. */
    static Unplaced why(Db.Tx tx, SessionRow session, @Nullable String only) throws SQLException {
        return tx.first(
                        WITH_TEMPLATE,
                        row ->
                                row.getBoolean("alive")
                                        ? new Unplaced(ErrorCode.NO_CAPACITY, NO_ROOM)
                                        : away(
                                                row.getString("id"),
                                                row.getLong("nodes"),
                                                Db.instant(row, "lease_until")),
                        only,
                        only,
                        session.engine(),
                        session.engine(),
                        session.templateDigest(),
                        session.templateDigest())
                .orElseGet(() ->
                        new Unplaced(
                                ErrorCode.NO_CAPACITY,
                                "no node has registered with the template; see /v1/nodes"));
    }

    private static Unplaced away(String node, long nodes, @Nullable Instant since) {
        String which =
                nodes == 1
                        ? "node %s, the only one with what is needed, is away".formatted(node)
                        : "all %d nodes with what is needed are away, the last one, %s,"
                                .formatted(nodes, node);
        return new Unplaced(
                ErrorCode.NODE_AWAY,
                "%s since %s, when its lease ended; start it again or wait for it, see /v1/nodes"
                        .formatted(which, since));
    }

    /** How long a node with the template is sure to be alive; empty when none is. */
    static Optional<Instant> aliveUntil(Db.Tx tx, String template) throws SQLException {
        return tx.first(
                "SELECT max(n.lease_until) AS until FROM nodes n WHERE n.lease_until > now()"
                        + " AND (EXISTS (SELECT FROM node_templates t WHERE t.node_id = n.id"
                        + " AND t.digest = ?) OR EXISTS (SELECT FROM stored_templates t"
                        + " WHERE t.digest = ? AND t.state = 'COMPLETE'))"
                        + " HAVING count(*) > 0",
                row -> java.util.Objects.requireNonNull(Db.instant(row, "until")),
                template,
                template);
    }

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
                session.templateDigest(),
                near,
                session.templateDigest());
    }
}
