package dev.space.store;

import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.SessionId;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Sessions whose policy wants something done now. What is at work already is left alone. */
@Singleton
public class PolicyRows {
    private static final String ACTOR = "platform";

    /** A checkpoint that could not be stored is not tried again at once. */
    private static final long AGAIN_SECONDS_MIN = 60;

    private static final String STORING_IS_DUE =
            """
            s.state = 'RUNNING' AND s.operation_id IS NULL AND s.tombstone_at IS NULL
            AND s.durable_every_seconds IS NOT NULL
            AND coalesce(s.durable_taken_at, s.created_at)
                < now() - s.durable_every_seconds * interval '1 second'
            AND (s.durable_taken_at IS NULL OR s.last_active_at IS NULL
                OR s.last_active_at > s.durable_taken_at)
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

    /** A session in which nothing happened for its policy's time. */
    public record Idle(SessionId session, long epoch, Instant since) {}

    /**
     * A paused one counts from its pause on, and only where its policy goes further than that.
     *
     * @param untouched a session that changed just now is on its way
     */
    public List<Idle> idle(Duration untouched, int max) {
        return db.inOneStatement(tx ->
                tx.all(
                        """
                        SELECT id, epoch, greatest(last_active_at, updated_at) AS since
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
                                        Objects.requireNonNull(Db.instant(row, "since"))),
                        untouched.toMillis(),
                        max));
    }
}
