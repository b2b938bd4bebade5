package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import dev.space.store.RequestStore.IdempotencyKey;
import dev.space.store.RequestStore.Requested;
import dev.space.store.RequestStore.Written;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The rows of forks. The request writes down what is to be made; the FORK's own commit makes it,
 * all of it or nothing, so that no retry makes a child twice and no DESTROY leaves half of them.
 */
@Singleton
public class ForkStore {
    private final Db db;

    @Inject
    public ForkStore(Db db) {
        this.db = db;
    }

    /** One session to make; its environment is sealed for its own id. */
    public record Child(
            SessionId session,
            OperationId create,
            String labelsJson,
            @Nullable Blob envEncrypted) {}

    /**
     * What is asked for.
     *
     * @param inheritGrants whether children may use the credentials that their source may use then
     * @param snapshot null: what is there now
     * @param deadlineAt null: the source's, where that is still to come
     */
    public record Fork(
            String project,
            SessionId source,
            OperationId operation,
            String actor,
            @Nullable SnapshotId snapshot,
            List<Child> children,
            @Nullable Instant deadlineAt,
            @Nullable String deadlineAction,
            boolean inheritGrants) {}

    /** What a child takes over from its source. */
    public record Source(String labelsJson, @Nullable Blob envEncrypted) {}

    /** A child with its CREATE, as they are now. */
    public record Made(SessionRow session, OperationRow create) {}

    /** Empty for another project's session, and where there is none. */
    public Optional<Source> source(String project, SessionId session) {
        return db.inOneStatement(tx ->
                tx.first(
                        "SELECT labels::text AS labels, env_encrypted FROM sessions"
                                + " WHERE id = ? AND project_id = ?",
                        row ->
                                new Source(
                                        row.getString("labels"),
                                        Blob.ofColumn(row.getBytes("env_encrypted"))),
                        session,
                        project));
    }

    /** FORK, its plan and its key in one transaction. */
    public Requested request(Fork fork, @Nullable IdempotencyKey key) {
        return db.inTransaction(tx -> {
            Optional<Requested> known = RequestStore.known(tx, key);
            if (known.isPresent()) {
                return known.get();
            }
            SessionRow source = RequestStore.own(tx, fork.project(), fork.source());
            if (source.tombstone() != null || source.state() == SessionState.DESTROYED) {
                throw new SpaceException(
                        ErrorCode.GONE, "session " + fork.source() + " was destroyed");
            }
            OperationRow row =
                    RequestStore.insertOperation(
                            tx,
                            fork.operation(),
                            fork.source(),
                            OperationKind.FORK,
                            fork.actor(),
                            new CommandArguments(null, fork.snapshot(), false, false));
            for (int i = 0; i < fork.children().size(); i++) {
                plan(tx, fork, fork.children().get(i), i);
            }
            return RequestStore.remember(
                    tx, key, fork.operation(), fork.source(), new Written(source, row));
        });
    }

    private static void plan(Db.Tx tx, Fork fork, Child child, int position) throws SQLException {
        tx.update(
                """
                INSERT INTO fork_children (operation_id, position, session_id, create_operation,
                    labels, env_encrypted, deadline_at, deadline_action, inherit_grants)
                VALUES (?, ?, ?, ?, ?::jsonb, ?, ?, ?, ?)
                """,
                fork.operation(),
                position,
                child.session(),
                child.create(),
                child.labelsJson(),
                child.envEncrypted(),
                fork.deadlineAt(),
                fork.deadlineAction(),
                fork.inheritGrants());
    }

    /** The children of a FORK in their order; none before its commit. */
    public List<Made> children(OperationId fork) {
        return db.inTransaction(tx -> {
            List<SessionRow> sessions =
                    tx.all(
                            "SELECT "
                                    + SessionRow.COLUMNS
                                    + " FROM sessions WHERE fork_operation = ?"
                                    + " ORDER BY fork_position",
                            SessionRow::read,
                            fork);
            List<OperationRow> creates =
                    tx.all(
                            "SELECT "
                                    + OperationRow.COLUMNS
                                    + " FROM operations WHERE kind = 'CREATE' AND session_id IN"
                                    + " (SELECT id FROM sessions WHERE fork_operation = ?)",
                            OperationRow::read,
                            fork);
            return sessions.stream().map(s -> new Made(s, createOf(s, creates))).toList();
        });
    }

    private static OperationRow createOf(SessionRow session, List<OperationRow> creates) {
        return creates.stream()
                .filter(row -> row.session().equals(session.id()))
                .findFirst()
                .orElseThrow();
    }

    /** Where a fork of what does not run begins; the row keeps it, which also protects it. */
    static OperationRow withChoice(Db.Tx tx, SessionRow session, OperationRow row)
            throws SQLException {
        boolean chooses =
                row.kind() == OperationKind.FORK
                        && row.snapshot() == null
                        && session.state() != SessionState.RUNNING;
        if (!chooses) {
            return row;
        }
        String newest = session.snapshot() == null ? session.preserved() : session.snapshot();
        return tx.first(
                        "UPDATE operations SET snapshot_id = ? WHERE id = ? RETURNING "
                                + OperationRow.COLUMNS,
                        OperationRow::read,
                        newest,
                        row.id())
                .orElseThrow();
    }

    /** Inside the transaction that ends the FORK as done. */
    static void makeChildren(Db.Tx tx, CommitStore.Commit commit, OperationRow fork)
            throws SQLException {
        String snapshot =
                fork.snapshot() == null
                        ? commit.snapshots().getLast().id().value()
                        : fork.snapshot();
        tx.update("UPDATE operations SET snapshot_id = ? WHERE id = ?", snapshot, fork.id());
        tx.update(
                """
                INSERT INTO sessions (id, organisation_id, project_id, state, desired, engine,
                    template_name, template_digest, size, labels, env_encrypted, auto_resume,
                    deadline_at, deadline_action, origin_session_id, fork_operation,
                    fork_position, lineage_id, durable_every_seconds, idle_seconds, idle_action,
                    network, network_version)
                SELECT c.session_id, s.organisation_id, s.project_id, 'NEW', 'NEW', s.engine,
                    s.template_name, s.template_digest, s.size, c.labels, c.env_encrypted,
                    s.auto_resume,
                    CASE WHEN c.deadline_at IS NOT NULL THEN c.deadline_at
                        WHEN s.deadline_at > now() THEN s.deadline_at END,
                    CASE WHEN c.deadline_at IS NOT NULL THEN c.deadline_action
                        WHEN s.deadline_at > now() THEN s.deadline_action END,
                    s.id, c.operation_id, c.position, s.lineage_id, s.durable_every_seconds,
                    s.idle_seconds, s.idle_action, s.network,
                    CASE WHEN s.network IS NULL THEN 0 ELSE 1 END
                FROM fork_children c JOIN sessions s ON s.id = ? WHERE c.operation_id = ?
                """,
                commit.session(),
                fork.id());
        tx.update(
                """
                INSERT INTO session_grants (session_id, credential_id, expires_at, granted_by)
                SELECT c.session_id, g.credential_id, g.expires_at, ?
                FROM fork_children c JOIN session_grants g ON g.session_id = ?
                WHERE c.operation_id = ? AND c.inherit_grants
                """,
                fork.actor(),
                commit.session(),
                fork.id());
        tx.update(
                """
                INSERT INTO operations (id, session_id, kind, state, actor, snapshot_id)
                SELECT create_operation, session_id, 'CREATE', 'REQUESTED', ?, ?
                FROM fork_children WHERE operation_id = ?
                """,
                fork.actor(),
                snapshot,
                fork.id());
    }
}
