package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SpaceException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Commands as the API writes them down: session, operation and idempotency key in one transaction,
 * before anything is sent to a workflow.
 */
@Singleton
public class RequestStore {
    private final Db db;

    @Inject
    public RequestStore(Db db) {
        this.db = db;
    }

    /** An idempotency key with the hash of the request that it belongs to. */
    public record IdempotencyKey(String project, String key, Blob requestHash) {}

    /**
     * What a request led to.
     *
     * @param isNew false when the key was known: nothing was written, send again what was found
     * @param answerBody the stored answer, when the first request was already answered
     * @param written what a new request wrote; null when nothing was written
     */
    public record Requested(
            OperationId operation,
            SessionId session,
            boolean isNew,
            int answerStatus,
            @Nullable Blob answerBody,
            @Nullable Written written) {}

    /** The rows as this request left them, so that they need not be read again to be sent. */
    public record Written(SessionRow session, OperationRow operation) {}

    /** A session to insert. */
    public record NewSession(
            SessionId id,
            String organisation,
            String project,
            String templateName,
            String templateDigest,
            String size,
            @Nullable String engine,
            String labelsJson,
            @Nullable Blob envEncrypted,
            boolean autoResume,
            @Nullable Instant deadlineAt,
            @Nullable String deadlineAction,
            SessionPolicy policy,
            @Nullable String network) {

        /** One that the platform does nothing with by itself, and that reaches nothing. */
        public NewSession(
                SessionId id,
                String organisation,
                String project,
                String templateName,
                String templateDigest,
                String size,
                @Nullable String engine,
                String labelsJson,
                @Nullable Blob envEncrypted,
                boolean autoResume,
                @Nullable Instant deadlineAt,
                @Nullable String deadlineAction) {
            this(
                    id,
                    organisation,
                    project,
                    templateName,
                    templateDigest,
                    size,
                    engine,
                    labelsJson,
                    envEncrypted,
                    autoResume,
                    deadlineAt,
                    deadlineAction,
                    SessionPolicy.NONE,
                    null);
        }
    }

    /** Session, CREATE and key in one transaction. */
    public Requested create(
            NewSession session, OperationId operation, String actor, @Nullable IdempotencyKey key) {
        return db.inTransaction(tx -> {
            Optional<Requested> known = known(tx, key);
            if (known.isPresent()) {
                return known.get();
            }
            SessionRow row = insertSession(tx, session);
            OperationRow create =
                    insertOperation(
                            tx,
                            operation,
                            session.id(),
                            OperationKind.CREATE,
                            actor,
                            CommandArguments.NONE);
            return remember(tx, key, operation, session.id(), new Written(row, create));
        });
    }

    /** Any other command; fails on a tombstone (rule 13), and 404 for another project's session. */
    public Requested command(
            String project,
            SessionId session,
            OperationId operation,
            OperationKind kind,
            String actor,
            CommandArguments arguments,
            @Nullable IdempotencyKey key) {
        return db.inTransaction(tx -> {
            Optional<Requested> known = known(tx, key);
            if (known.isPresent()) {
                return known.get();
            }
            SessionRow row = own(tx, project, session);
            if (row.tombstone() != null || row.state() == SessionState.DESTROYED) {
                throw new SpaceException(ErrorCode.GONE, "session " + session + " was destroyed");
            }
            if (arguments.name() != null) {
                QuotaRows.requireRoomForName(tx, session);
            }
            OperationRow command = insertOperation(tx, operation, session, kind, actor, arguments);
            return remember(tx, key, operation, session, new Written(row, command));
        });
    }

    /**
     * DELETE writes the tombstone first. A session that has one already answers with the DESTROY
     * that wrote it: deleting twice is one deletion.
     */
    public Requested destroy(
            String project,
            SessionId session,
            OperationId operation,
            String actor,
            @Nullable IdempotencyKey key) {
        return db.inTransaction(tx -> {
            Optional<Requested> known = known(tx, key);
            if (known.isPresent()) {
                return known.get();
            }
            SessionRow row = own(tx, project, session);
            if (row.tombstone() != null) {
                return remember(tx, key, row.tombstone(), session, null);
            }
            OperationRow destroy =
                    insertOperation(
                            tx,
                            operation,
                            session,
                            OperationKind.DESTROY,
                            actor,
                            CommandArguments.NONE);
            tx.update(
                    "UPDATE sessions SET tombstone_at = now(), tombstone_operation = ?,"
                            + " desired = 'DESTROYED', updated_at = now() WHERE id = ?",
                    operation,
                    session);
            return remember(tx, key, operation, session, new Written(row, destroy));
        });
    }

    /** Keeps the answer for whoever sends the same request again; the first answer stays. */
    public void storeAnswer(String project, String key, int status, byte[] body) {
        db.inOneStatement(tx ->
                tx.update(
                        "UPDATE idempotency_keys SET answer_status = ?, answer_body = ?"
                                + " WHERE project_id = ? AND key = ? AND answer_body IS NULL",
                        status,
                        body,
                        project,
                        key));
    }

    /**
     * Ends a row that no workflow accepted, and answers whether it was still REQUESTED. Frees its
     * key when trying again makes sense (rule 14). A session whose CREATE ends so never was.
     */
    public boolean refuse(
            SessionId session, OperationId operation, ErrorCode error, String detail) {
        return db.inTransaction(tx -> {
            AcceptStore.lock(tx, session);
            OperationRow row =
                    tx.first(OperationRow.SELECT, OperationRow::read, operation).orElse(null);
            if (row == null || row.state() != OperationState.REQUESTED) {
                return false;
            }
            CommitStore.end(tx, operation, OperationState.REFUSED, error, detail, "");
            if (row.kind() == OperationKind.CREATE) {
                tx.update(
                        "UPDATE sessions SET state = 'DESTROYED', desired = 'DESTROYED',"
                                + " tombstone_at = coalesce(tombstone_at, now()),"
                                + " tombstone_operation = coalesce(tombstone_operation, ?),"
                                + " env_encrypted = NULL, reason = ?, reason_code = 'PLATFORM',"
                                + " updated_at = now() WHERE id = ?",
                        operation,
                        detail,
                        session);
            }
            return true;
        });
    }

    static SessionRow own(Db.Tx tx, String project, SessionId session) throws SQLException {
        return AcceptStore.lock(tx, session)
                .filter(row -> row.project().equals(project))
                .orElseThrow(() ->
                        new SpaceException(ErrorCode.NOT_FOUND, "there is no session " + session));
    }

    static Optional<Requested> known(Db.Tx tx, @Nullable IdempotencyKey key) throws SQLException {
        if (key == null) {
            return Optional.empty();
        }
        // One lock for all requests with this key, so that the second sees what the first wrote.
        tx.first(
                "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))",
                row -> true,
                key.project() + '\n' + key.key());
        return tx.first(
                "SELECT request_hash, operation_id, session_id, coalesce(answer_status, 0) AS"
                        + " answer_status, answer_body FROM idempotency_keys WHERE project_id = ? AND"
                        + " key = ?",
                row -> {
                    if (!key.requestHash().equals(Blob.ofColumn(row.getBytes("request_hash")))) {
                        throw new SpaceException(
                                ErrorCode.IDEMPOTENCY_KEY_REUSED,
                                "this idempotency key was used with another request; choose a new"
                                        + " key for a new request");
                    }
                    return new Requested(
                            new OperationId(row.getString("operation_id")),
                            new SessionId(row.getString("session_id")),
                            false,
                            row.getInt("answer_status"),
                            Blob.ofColumn(row.getBytes("answer_body")),
                            null);
                },
                key.project(),
                key.key());
    }

    static Requested remember(
            Db.Tx tx,
            @Nullable IdempotencyKey key,
            OperationId operation,
            SessionId session,
            @Nullable Written written)
            throws SQLException {
        if (key != null) {
            tx.update(
                    "INSERT INTO idempotency_keys (project_id, key, request_hash, operation_id,"
                            + " session_id) VALUES (?, ?, ?, ?, ?)",
                    key.project(),
                    key.key(),
                    key.requestHash(),
                    operation,
                    session);
        }
        return new Requested(operation, session, true, 0, null, written);
    }

    private static SessionRow insertSession(Db.Tx tx, NewSession session) throws SQLException {
        return tx.first(
                        """
                        INSERT INTO sessions (id, organisation_id, project_id, state, desired,
                            engine, template_name, template_digest, size, labels,
                            env_encrypted, auto_resume, deadline_at, deadline_action,
                            lineage_id, durable_every_seconds, idle_seconds, idle_action,
                            network, network_version)
                        VALUES (?, ?, ?, 'NEW', 'NEW', ?, ?, ?, ?, ?::jsonb, ?, ?, ?, ?, ?, ?, ?, ?,
                            ?, ?)
                        RETURNING
                        """
                                + SessionRow.COLUMNS,
                        SessionRow::read,
                        session.id(),
                        session.organisation(),
                        session.project(),
                        session.engine(),
                        session.templateName(),
                        session.templateDigest(),
                        session.size(),
                        session.labelsJson(),
                        session.envEncrypted(),
                        session.autoResume(),
                        session.deadlineAt(),
                        session.deadlineAction(),
                        session.id(),
                        session.policy().durableEverySeconds(),
                        session.policy().idleSeconds(),
                        session.policy().idleAction(),
                        session.network(),
                        session.network() == null ? 0L : 1L)
                .orElseThrow();
    }

    static OperationRow insertOperation(
            Db.Tx tx,
            OperationId operation,
            SessionId session,
            OperationKind kind,
            String actor,
            CommandArguments arguments)
            throws SQLException {
        return tx.first(
                        "INSERT INTO operations (id, session_id, kind, state, actor, argument,"
                                + " snapshot_id, accept_loss, durable)"
                                + " VALUES (?, ?, ?, 'REQUESTED', ?, ?, ?, ?, ?) RETURNING "
                                + OperationRow.COLUMNS,
                        OperationRow::read,
                        operation,
                        session,
                        kind,
                        actor,
                        arguments.name(),
                        arguments.snapshot(),
                        arguments.acceptLoss(),
                        arguments.durable())
                .orElseThrow();
    }
}
