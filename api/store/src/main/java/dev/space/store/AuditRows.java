package dev.space.store;

import dev.space.model.audit.AuditChain;
import dev.space.model.audit.AuditEntry;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The chain over the events, made behind them: whoever writes an event waits for nobody. An event
 * gets its place when its transaction is over, so places and ids may differ in their order.
 */
@Singleton
public class AuditRows {
    private static final String EVENT =
            "e.at, e.project_id, e.session_id, e.actor, e.action, e.object, e.outcome, e.reason,"
                    + " e.epoch, e.node_id";

    /** One process at a time extends the chains. */
    private static final long CHAIN_LOCK = 7_361_727;

    private final Db db;

    @Inject
    public AuditRows(Db db) {
        this.db = db;
    }

    /**
     * One link with its record.
     *
     * @param entry null: another project's
     */
    public record Linked(AuditChain.Link link, @Nullable AuditEntry entry) {}

    private record Pending(long event, String organisation, AuditEntry entry) {}

    private record Head(long position, String hash) {}

    /**
     * Chains what is pending, at most so many; answers how many, none where another process does so
     * now.
     */
    public int chain(int max) {
        return db.inTransaction(tx -> {
            boolean alone =
                    tx.first(
                                    "SELECT pg_try_advisory_xact_lock(?)",
                                    row -> row.getBoolean(1),
                                    CHAIN_LOCK)
                            .orElse(false);
            if (!alone) {
                return 0;
            }
            List<Pending> pending =
                    tx.all(
                            "SELECT e.id, coalesce(p.organisation_id, '') AS organisation, "
                                    + EVENT
                                    + " FROM audit_pending w JOIN events e ON e.id = w.event_id"
                                    + " LEFT JOIN projects p ON p.id = e.project_id"
                                    + " ORDER BY e.id LIMIT ?",
                            row ->
                                    new Pending(
                                            row.getLong("id"),
                                            row.getString("organisation"),
                                            entry(row)),
                            max);
            Map<String, Head> heads = new HashMap<>();
            for (Pending each : pending) {
                Head before = heads.get(each.organisation());
                if (before == null) {
                    before = head(tx, each.organisation());
                }
                heads.put(each.organisation(), append(tx, each, before));
            }
            return pending.size();
        });
    }

    private static Head head(Db.Tx tx, String organisation) throws SQLException {
        return tx.first(
                        "SELECT position, hash FROM audit_chain WHERE organisation_id = ?"
                                + " ORDER BY position DESC LIMIT 1",
                        row -> new Head(row.getLong(1), row.getString(2)),
                        organisation)
                .orElseGet(() -> new Head(0, AuditChain.start(organisation)));
    }

    private static Head append(Db.Tx tx, Pending next, Head before) throws SQLException {
        long position = before.position() + 1;
        String project = next.entry().project();
        String digest = next.entry().digest();
        String hash = AuditChain.next(before.hash(), position, project, digest);
        tx.update(
                "INSERT INTO audit_chain (organisation_id, position, event_id, project_id, digest,"
                        + " hash) VALUES (?, ?, ?, ?, ?, ?)",
                next.organisation(),
                position,
                next.event(),
                project,
                digest,
                hash);
        tx.update("DELETE FROM audit_pending WHERE event_id = ?", next.event());
        return new Head(position, hash);
    }

    /** A part of an organisation's chain; records of other projects are not in it. */
    public List<Linked> page(String organisation, String project, long after, int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT c.position, c.project_id AS owner, c.digest, c.hash,"
                                + " c.project_id = ? AS mine, "
                                + EVENT
                                + " FROM audit_chain c JOIN events e ON e.id = c.event_id"
                                + " WHERE c.organisation_id = ? AND c.position > ?"
                                + " ORDER BY c.position LIMIT ?",
                        row ->
                                new Linked(
                                        new AuditChain.Link(
                                                row.getLong("position"),
                                                row.getString("owner"),
                                                row.getString("digest"),
                                                row.getString("hash")),
                                        row.getBoolean("mine") ? entry(row) : null),
                        project,
                        organisation,
                        after,
                        max));
    }

    private static AuditEntry entry(ResultSet row) throws SQLException {
        long epoch = row.getLong("epoch");
        boolean none = row.wasNull();
        String project = row.getString("project_id");
        return new AuditEntry(
                Objects.requireNonNull(Db.instant(row, "at")),
                project == null ? "" : project,
                row.getString("session_id"),
                row.getString("actor"),
                row.getString("action"),
                row.getString("object"),
                row.getString("outcome"),
                row.getString("reason"),
                none ? null : epoch,
                row.getString("node_id"));
    }
}
