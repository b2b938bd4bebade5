package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.Limits;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/**
 * What there is too much of: snapshots that operations made. Those that a node makes by itself are
 * that node's to thin, and what a user has named stays until a user deletes it.
 */
@Singleton
public class QuotaRows {
    /** What may go: nothing stands on it, and nothing is at work on its session. */
    private static final String MAY_GO =
            """
            p.state = 'LISTED' AND p.reason <> 'ROLLING' AND p.name IS NULL
            AND (p.pinned_until IS NULL OR p.pinned_until < now())
            AND s.operation_id IS NULL AND s.state <> 'DESTROYED' AND s.tombstone_at IS NULL
            AND p.id IS DISTINCT FROM s.snapshot_id AND p.id IS DISTINCT FROM s.preserved_id
            AND p.id IS DISTINCT FROM s.durable_snapshot_id
            AND p.id IS DISTINCT FROM s.base_snapshot_id
            """;

    private final Db db;

    @Inject
    public QuotaRows(Db db) {
        this.db = db;
    }

    /** A snapshot that is one too many. */
    public record Excess(SessionId session, SnapshotId snapshot) {}

    /** A page of sessions, in the order of their ids. */
    public List<SessionId> sessions(String after, int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT id FROM sessions WHERE state <> 'DESTROYED' AND id > ? ORDER BY id"
                                + " LIMIT ?",
                        row -> new SessionId(row.getString(1)),
                        after,
                        max));
    }

    /**
     * Of these sessions, what each has beyond its newest {@code keep}; the oldest first. Epoch and
     * stop are their order: the clock of a node may have been wrong.
     */
    public List<Excess> ofSessions(List<SessionId> sessions, int keep, int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT session_id, id FROM (SELECT p.session_id, p.id, p.epoch, p.stop,"
                                + " row_number() OVER (PARTITION BY p.session_id ORDER BY"
                                + " p.epoch DESC, p.stop DESC) AS n FROM snapshots p JOIN sessions s"
                                + " ON s.id = p.session_id WHERE p.session_id = ANY (?) AND "
                                + MAY_GO
                                + ") q WHERE n > ? ORDER BY epoch, stop, id LIMIT ?",
                        QuotaRows::excess,
                        sessions.stream().map(SessionId::value).toArray(String[]::new),
                        keep,
                        max));
    }

    /** The projects, in the order of their ids. */
    public List<String> projects(String after, int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT id FROM projects WHERE id > ? ORDER BY id LIMIT ?",
                        row -> row.getString(1),
                        after,
                        max));
    }

    /** What a project has beyond {@code keep}, named ones counted, the oldest first. */
    public List<Excess> ofProject(String project, int keep, int max) {
        return db.inOneStatement(tx -> {
            long there =
                    tx.first(
                                    "SELECT count(*) FROM snapshots p JOIN sessions s ON s.id ="
                                            + " p.session_id WHERE s.project_id = ? AND p.state ="
                                            + " 'LISTED' AND p.reason <> 'ROLLING'",
                                    row -> row.getLong(1),
                                    project)
                            .orElse(0L);
            return tx.all(
                    "SELECT p.session_id, p.id FROM snapshots p JOIN sessions s ON s.id ="
                            + " p.session_id WHERE s.project_id = ? AND "
                            + MAY_GO
                            + " ORDER BY p.created_at, p.id LIMIT ?",
                    QuotaRows::excess,
                    project,
                    Math.clamp(there - keep, 0, max));
        });
    }

    /**
     * What a project has in the object store beyond so many bytes, the oldest first. Counted is
     * what was sent for each: parts that a later one shares were sent once, for the older.
     */
    public List<Excess> storedByProject(String project, long keepBytes, int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT session_id, id FROM (SELECT p.session_id, p.id, d.completed_at,"
                                + " d.id AS number, ("
                                + MAY_GO
                                + ") AS may_go, sum(d.bytes_uploaded) OVER (ORDER BY"
                                + " d.completed_at DESC, d.id DESC) AS newer FROM durable_snapshots"
                                + " d JOIN snapshots p ON p.id = d.snapshot_id JOIN sessions s ON"
                                + " s.id = p.session_id WHERE s.project_id = ? AND d.state ="
                                + " 'COMPLETE' AND p.state = 'LISTED') q WHERE newer > ? AND may_go"
                                + " ORDER BY completed_at, number LIMIT ?",
                        QuotaRows::excess,
                        project,
                        keepBytes,
                        max));
    }

    private static Excess excess(ResultSet row) throws SQLException {
        return new Excess(
                new SessionId(row.getString("session_id")), new SnapshotId(row.getString("id")));
    }

    /** What has a name is never removed by itself, so that there must be an end to it. */
    static void requireRoomForName(Db.Tx tx, SessionId session) throws SQLException {
        long named =
                tx.first(
                                "SELECT count(*) FROM snapshots WHERE session_id = ? AND state ="
                                        + " 'LISTED' AND name IS NOT NULL",
                                row -> row.getLong(1),
                                session)
                        .orElse(0L);
        if (named >= Limits.SNAPSHOTS_NAMED_MAX) {
            throw new SpaceException(
                    ErrorCode.LIMIT_EXCEEDED,
                    "the session has "
                            + named
                            + " checkpoints with a name; delete one, or leave the name out");
        }
    }
}
