package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SpaceException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Sessions whose policy wants something done now. What is at work already is left alone. */
@Singleton
public class PolicyRows {
    private static final String ACTOR = "platform";

    /** A checkpoint that could not be stored is not tried again at once. */
    private static final long AGAIN_SECONDS_MIN = 60;

    /**
     * A snapshot of a time that is still to come was taken with a clock that was wrong: then the
     * time of its row counts.
     */
    private static final String STORING_IS_DUE =
            """
            s.state = 'RUNNING' AND s.operation_id IS NULL AND s.tombstone_at IS NULL
            AND s.durable_every_seconds IS NOT NULL
            AND CASE WHEN s.durable_taken_at > now() + interval '1 minute'
                THEN NOT EXISTS (SELECT 1 FROM durable_snapshots d WHERE d.session_id = s.id
                    AND d.state = 'COMPLETE' AND d.completed_at
                        > now() - s.durable_every_seconds * interval '1 second')
                ELSE coalesce(s.durable_taken_at, s.created_at)
                        < now() - s.durable_every_seconds * interval '1 second'
                    AND (s.durable_taken_at IS NULL OR s.last_active_at IS NULL
                        OR s.last_active_at > s.durable_taken_at) END
            AND NOT EXISTS (SELECT 1 FROM operations o WHERE o.session_id = s.id
                AND (o.state = 'REQUESTED' OR (o.kind = 'CHECKPOINT' AND o.durable
                    AND o.requested_at > now() - ?::bigint * interval '1 second')))
            """;

    private final Db db;

    @Inject
    public PolicyRows(Db db) {
        this.db = db;
    }

    /** Running sessions that are to be stored now, the longest unstored first. */
    public List<SessionId> toStore(int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT s.id FROM sessions s WHERE "
                                + STORING_IS_DUE
                                + " ORDER BY s.durable_taken_at NULLS FIRST, s.id LIMIT ?",
                        row -> new SessionId(row.getString(1)),
                        AGAIN_SECONDS_MIN,
                        max));
    }

    /** The CHECKPOINT that stores it; empty where it is not due any more. */
    public Optional<OperationRow> store(SessionId session, OperationId operation) {
        return db.inTransaction(tx -> {
            boolean due =
                    tx.first(
                                    "SELECT 1 FROM sessions s WHERE s.id = ? AND "
                                            + STORING_IS_DUE
                                            + " FOR UPDATE",
                                    row -> true,
                                    session,
                                    AGAIN_SECONDS_MIN)
                            .isPresent();
            return due
                    ? Optional.of(
                            RequestStore.insertOperation(
                                    tx,
                                    operation,
                                    session,
                                    OperationKind.CHECKPOINT,
                                    ACTOR,
                                    new CommandArguments(null, null, false, true)))
                    : Optional.<OperationRow>empty();
        });
    }

    /**
     * What is to be another.
     *
     * @param idle whether the two after it count; null in them: the policy ends
     * @param durability whether the one after it counts
     * @param deadline whether the two after it count
     * @param autoResume null: it stays
     */
    public record Change(
            boolean idle,
            @Nullable Long idleSeconds,
            @Nullable String idleAction,
            boolean durability,
            @Nullable Long durableEverySeconds,
            boolean deadline,
            @Nullable Instant deadlineAt,
            @Nullable String deadlineAction,
            @Nullable Boolean autoResume) {}

    /** Times count from the change on, so that nothing that was allowed until now ends at once. */
    public void change(SessionId session, Change change, String actor) {
        db.inTransaction(tx -> {
            SessionRow row =
                    AcceptStore.lock(tx, session)
                            .orElseThrow(() ->
                                    new SpaceException(
                                            ErrorCode.NOT_FOUND, "there is no " + session));
            if (row.state() == SessionState.DESTROYED || row.tombstone() != null) {
                throw new SpaceException(ErrorCode.GONE, "the session was destroyed");
            }
            tx.update(
                    """
                    UPDATE sessions SET updated_at = now(),
                        idle_seconds = CASE WHEN ? THEN ?::bigint ELSE idle_seconds END,
                        idle_action = CASE WHEN ? THEN ?::text ELSE idle_action END,
                        durable_every_seconds =
                            CASE WHEN ? THEN ?::bigint ELSE durable_every_seconds END,
                        deadline_at = CASE WHEN ? THEN ?::timestamptz ELSE deadline_at END,
                        deadline_action = CASE WHEN ? THEN ?::text ELSE deadline_action END,
                        auto_resume = coalesce(?::boolean, auto_resume)
                    WHERE id = ?
                    """,
                    change.idle(),
                    change.idleSeconds(),
                    change.idle(),
                    change.idleAction(),
                    change.durability(),
                    change.durableEverySeconds(),
                    change.deadline(),
                    change.deadlineAt(),
                    change.deadline(),
                    change.deadlineAction(),
                    change.autoResume(),
                    session);
            return tx.update(
                    """
                    INSERT INTO events (project_id, session_id, actor, action, object, outcome,
                        epoch, node_id)
                    SELECT project_id, id, ?, 'change_policies', id, 'OK', epoch, node_id
                    FROM sessions WHERE id = ?
                    """,
                    actor,
                    session);
        });
    }

    /** A session in which nothing happened for its policy's time, and what the policy does. */
    public record Idle(SessionId session, long epoch, Instant since, String action) {}

    /**
     * A paused one counts from its pause on, and only where its policy goes further than that.
     *
     * @param untouched a session that changed just now is on its way
     */
    public List<Idle> idle(Duration untouched, int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        """
                        SELECT id, epoch, greatest(last_active_at, updated_at) AS since, idle_action
                        FROM sessions
                        WHERE idle_seconds IS NOT NULL AND operation_id IS NULL
                            AND tombstone_at IS NULL
                            AND (state = 'RUNNING' OR (state = 'PAUSED'
                                AND idle_action = 'SUSPEND'))
                            AND greatest(last_active_at, updated_at)
                                < now() - idle_seconds * interval '1 second'
                            AND updated_at < now() - ?::bigint * interval '1 millisecond'
                        ORDER BY id LIMIT ?
                        """,
                        row ->
                                new Idle(
                                        new SessionId(row.getString("id")),
                                        row.getLong("epoch"),
                                        Objects.requireNonNull(Db.instant(row, "since")),
                                        row.getString("idle_action")),
                        untouched.toMillis(),
                        max));
    }
}
