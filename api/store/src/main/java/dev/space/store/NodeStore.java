package dev.space.store;

import dev.space.model.SessionId;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/** Nodes: registration, lease, what they have, and their numbered reports. */
@Singleton
public class NodeStore {
    /** What happened longer ago than this says nothing more: ten years. */
    private static final long ACTIVITY_MILLIS_MAX = Duration.ofDays(3650).toMillis();

    private final Db db;

    @Inject
    public NodeStore(Db db) {
        this.db = db;
    }

    /** A template that a node has, with the sizes whose start snapshot is ready. */
    public record Template(String digest, String name, List<String> sizesReady) {}

    /** What a node says of itself when it starts. */
    public record Registration(
            String id,
            String apiAddress,
            String engine,
            String enginesJson,
            String version,
            long memoryBytes,
            long diskBytes,
            int slots,
            List<Template> templates) {}

    /** A session that a node may run, and under which epoch (rule 9). */
    public record SessionEpoch(String session, long epoch, long networkVersion) {}

    /** One audit record of a node. */
    public record Audit(
            String session,
            long epoch,
            String actor,
            String action,
            String object,
            String outcome,
            String reason,
            Instant at) {

        /** One whose outcome says all. */
        public Audit(
                String session,
                long epoch,
                String actor,
                String action,
                String object,
                String outcome,
                Instant at) {
            this(session, epoch, actor, action, object, outcome, "", at);
        }
    }

    /** Registers the node, or registers it again with what it has now. */
    public void register(Registration node, Duration lease) {
        db.inTransaction(tx -> {
            tx.update(
                    """
                    INSERT INTO nodes (id, api_address, engine, engines, version,
                        memory_bytes, memory_free_bytes, disk_bytes, disk_free_bytes,
                        slots, slots_free, lease_until)
                    VALUES (?, ?, ?, ?::jsonb, ?, ?, ?, ?, ?, ?, ?,
                        now() + ?::bigint * interval '1 millisecond')
                    ON CONFLICT (id) DO UPDATE SET api_address = EXCLUDED.api_address,
                        engine = EXCLUDED.engine, engines = EXCLUDED.engines,
                        version = EXCLUDED.version,
                        memory_bytes = EXCLUDED.memory_bytes,
                        disk_bytes = EXCLUDED.disk_bytes, slots = EXCLUDED.slots,
                        lease_until = EXCLUDED.lease_until, registered_at = now()
                    """,
                    node.id(),
                    node.apiAddress(),
                    node.engine(),
                    node.enginesJson(),
                    node.version(),
                    node.memoryBytes(),
                    node.memoryBytes(),
                    node.diskBytes(),
                    node.diskBytes(),
                    node.slots(),
                    node.slots(),
                    lease.toMillis());
            writeTemplates(tx, node.id(), node.templates());
            return true;
        });
    }

    /**
     * Renews the lease and answers what the node may run; empty for a node that must register.
     * Writes the node's row, on which giving up a node waits (rule 8).
     */
    public Optional<List<SessionEpoch>> renew(
            String node,
            long memoryFreeBytes,
            long diskFreeBytes,
            int slotsFree,
            List<Template> templates,
            Duration lease) {
        return db.inTransaction(tx -> {
            int renewed =
                    tx.update(
                            "UPDATE nodes SET lease_until = now() + ?::bigint * interval"
                                    + " '1 millisecond', memory_free_bytes = ?,"
                                    + " disk_free_bytes = ?, slots_free = ? WHERE id = ?",
                            lease.toMillis(),
                            memoryFreeBytes,
                            diskFreeBytes,
                            slotsFree,
                            node);
            if (renewed == 0) {
                return Optional.<List<SessionEpoch>>empty();
            }
            writeTemplates(tx, node, templates);
            return Optional.of(
                    tx.all(
                            "SELECT id, epoch, network_version FROM sessions WHERE node_id = ?"
                                    + " AND state <> 'DESTROYED'",
                            row ->
                                    new SessionEpoch(
                                            row.getString(1), row.getLong(2), row.getLong(3)),
                            node));
        });
    }

    /** Sorted by digest, so that two nodes that report at once never lock each other out. */
    private static void writeTemplates(Db.Tx tx, String node, List<Template> templates)
            throws SQLException {
        List<Template> sorted =
                templates.stream().sorted(Comparator.comparing(Template::digest)).toList();
        for (Template template : sorted) {
            tx.update(
                    "INSERT INTO templates (digest, name) VALUES (?, ?) ON CONFLICT (digest)"
                            + " DO UPDATE SET name = EXCLUDED.name, reported_at = now() WHERE"
                            + " templates.name <> EXCLUDED.name",
                    template.digest(),
                    template.name());
            tx.update(
                    "INSERT INTO node_templates (node_id, digest, sizes_ready) VALUES (?, ?, ?)"
                            + " ON CONFLICT (node_id, digest) DO UPDATE SET sizes_ready ="
                            + " EXCLUDED.sizes_ready WHERE node_templates.sizes_ready <>"
                            + " EXCLUDED.sizes_ready",
                    node,
                    template.digest(),
                    template.sizesReady().toArray(String[]::new));
        }
        tx.update(
                "DELETE FROM node_templates WHERE node_id = ? AND NOT (digest = ANY (?))",
                node,
                sorted.stream().map(Template::digest).toArray(String[]::new));
    }

    /** Until when a node with the template is alive for sure; empty when none is now. */
    public Optional<Instant> aliveUntil(String template) {
        return db.inOneStatement(tx -> Placement.aliveUntil(tx, template));
    }

    /** Highest report that was taken in; empty for a node that nobody knows. */
    public Optional<Long> reportSequence(String node) {
        return db.inOneStatement(tx ->
                tx.first(
                        "SELECT report_sequence FROM nodes WHERE id = ?",
                        row -> row.getLong(1),
                        node));
    }

    /**
     * Takes audit records in and moves the node's sequence on, in one transaction: a batch that is
     * sent again writes nothing. Records of sessions that nobody knows are kept without project.
     *
     * @param sequences sequence of each record, ascending
     */
    public long takeReports(String node, List<Audit> audits, LongStream sequences, long upTo) {
        long[] numbers = sequences.toArray();
        return db.inTransaction(tx -> {
            Optional<Long> seen =
                    tx.first(
                            "SELECT report_sequence FROM nodes WHERE id = ? FOR UPDATE",
                            row -> row.getLong(1),
                            node);
            if (seen.isEmpty()) {
                return 0L;
            }
            for (int i = 0; i < numbers.length; i++) {
                if (numbers[i] > seen.get()) {
                    insertAudit(tx, node, audits.get(i));
                }
            }
            long now = Math.max(seen.get(), upTo);
            tx.update("UPDATE nodes SET report_sequence = ? WHERE id = ?", now, node);
            return now;
        });
    }

    private static void insertAudit(Db.Tx tx, String node, Audit audit) throws SQLException {
        tx.update(
                """
                INSERT INTO events (project_id, session_id, actor, action, object, outcome,
                    reason, epoch, node_id, at)
                VALUES ((SELECT project_id FROM sessions WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                audit.session(),
                audit.session(),
                audit.actor(),
                audit.action(),
                audit.object(),
                audit.outcome(),
                audit.reason(),
                audit.epoch(),
                node,
                audit.at());
    }

    /** Whether new sandboxes may come; false where there is no such node. */
    public boolean cordon(String node, boolean cordoned) {
        return db.inOneStatement(
                tx -> tx.update("UPDATE nodes SET cordoned = ? WHERE id = ?", cordoned, node) > 0);
    }

    /**
     * The node and its VMs are stopped, says who stopped them: nobody has to wait for the end of
     * its lease. Whoever would renew it is stopped as well.
     */
    public boolean off(String node) {
        return db.inOneStatement(tx ->
                tx.update(
                                "UPDATE nodes SET lease_until = least(lease_until, now()),"
                                        + " cordoned = false WHERE id = ?",
                                node)
                        > 0);
    }

    /** Where a node's API is, while its row exists. */
    public Optional<String> address(String node) {
        return db.inOneStatement(tx ->
                tx.first(
                        "SELECT api_address FROM nodes WHERE id = ?",
                        row -> row.getString(1),
                        node));
    }

    /**
     * Where a start is sent.
     *
     * @param noNetwork the session may reach nothing now
     */
    public record StartTarget(String apiAddress, boolean noNetwork) {}

    /** Where a node's API is, with what its next start need not ask for; while its row exists. */
    public Optional<StartTarget> startTarget(String node, SessionId session) {
        return db.inOneStatement(tx ->
                tx.first(
                        """
                        SELECT n.api_address, EXISTS (SELECT FROM sessions s
                            WHERE s.id = ? AND s.network IS NULL) AS no_network
                        FROM nodes n WHERE n.id = ?
                        """,
                        row ->
                                new StartTarget(
                                        row.getString("api_address"), row.getBoolean("no_network")),
                        session,
                        node));
    }

    /**
     * The newest digest that a name stands for on a node or in the object store: on one that is
     * alive or stored, else away, else on none.
     */
    public Optional<String> templateDigest(String name) {
        return db.inOneStatement(tx ->
                tx.first(
                        """
                        SELECT t.digest FROM templates t
                        LEFT JOIN node_templates m ON m.digest = t.digest
                        LEFT JOIN nodes n ON n.id = m.node_id AND n.lease_until > now()
                        LEFT JOIN stored_templates s ON s.digest = t.digest
                            AND s.state = 'COMPLETE'
                        WHERE t.name = ?
                        ORDER BY (n.id IS NULL AND s.id IS NULL), (m.node_id IS NULL),
                            t.reported_at DESC LIMIT 1
                        """,
                        row -> row.getString(1),
                        name));
    }

    /** Names of all published templates. */
    public List<String> templateNames() {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT DISTINCT name FROM templates ORDER BY name LIMIT 1000",
                        row -> row.getString(1)));
    }

    /**
     * Last activity of a session, for the idle policy; never moves back. How long ago it was is
     * what counts: with the clock of a node, or of a guest, that is wrong by a year a session would
     * be idle at once, or not for a year.
     */
    public void activity(String session, long epoch, Duration ago) {
        db.inOneStatement(tx ->
                tx.update(
                        "UPDATE sessions SET last_active_at = greatest(last_active_at, now() -"
                                + " ?::bigint * interval '1 millisecond')"
                                + " WHERE id = ? AND epoch = ?",
                        Math.clamp(ago.toMillis(), 0, ACTIVITY_MILLIS_MAX),
                        session,
                        epoch));
    }
}
