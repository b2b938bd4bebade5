package dev.space.service.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.space.model.Durability;
import dev.space.model.ReasonCode;
import dev.space.model.SessionState;
import dev.space.store.view.SessionEntity;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** A session as the API shows it. */
@Schema(name = "Session")
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SessionView(
        String id,
        SessionState state,
        SessionState desired,
        Durability durability,
        @Nullable DurableView durable,
        @Nullable String snapshot,
        long epoch,
        @Nullable String node,
        @Nullable Boolean nodeAway,
        @Nullable RunsOn runsOn,
        String template,
        String templateDigest,
        String size,
        Map<String, String> labels,
        boolean autoResume,
        @Nullable String operation,
        Reason reason,
        Instant createdAt,
        Instant updatedAt,
        @Nullable Instant lastActiveAt,
        @Nullable Instant deadlineAt,
        @Nullable String deadlineAction,
        CreateSession.@Nullable DurabilityPolicy durabilityPolicy,
        CreateSession.@Nullable Idle idle,
        @Nullable String forkedFrom,
        @Nullable String forkOperation) {

    /** What a lost node would leave: the newest snapshot that the object store has whole. */
    @Schema(name = "Durable")
    public record DurableView(String snapshot, @Nullable Instant takenAt) {}

    /** Where a sandbox of it really runs, and under which epoch, when its node was last asked. */
    @Schema(name = "RunsOn")
    public record RunsOn(String node, long epoch, Instant seenAt) {}

    /** Why the session changed last. */
    public record Reason(ReasonCode code, String text, Instant at) {}

    static SessionView of(SessionEntity row) {
        return new SessionView(
                row.id,
                row.state,
                row.desired,
                row.durability,
                durable(row),
                row.snapshotId,
                row.epoch,
                row.nodeId,
                away(row),
                runsOn(row),
                row.templateName,
                row.templateDigest,
                row.size,
                row.labels,
                row.autoResume,
                row.operationId,
                new Reason(row.reasonCode, row.reason, row.reasonAt),
                row.createdAt,
                row.updatedAt,
                row.lastActiveAt,
                row.deadlineAt,
                row.deadlineAction == null ? null : row.deadlineAction.toLowerCase(Locale.ROOT),
                row.durableEverySeconds == null
                        ? null
                        : new CreateSession.DurabilityPolicy(row.durableEverySeconds),
                idle(row),
                row.originSessionId,
                row.forkOperation);
    }

    private static @Nullable RunsOn runsOn(SessionEntity row) {
        return row.seenNode == null || row.seenEpoch == null || row.seenAt == null
                ? null
                : new RunsOn(row.seenNode, row.seenEpoch, row.seenAt);
    }

    private static CreateSession.@Nullable Idle idle(SessionEntity row) {
        return row.idleSeconds == null || row.idleAction == null
                ? null
                : new CreateSession.Idle(row.idleSeconds, row.idleAction.toLowerCase(Locale.ROOT));
    }

    private static @Nullable DurableView durable(SessionEntity row) {
        return row.durableSnapshotId == null
                ? null
                : new DurableView(row.durableSnapshotId, row.durableTakenAt);
    }

    /** Shown only where it says something. */
    private static @Nullable Boolean away(SessionEntity row) {
        boolean lives = row.state != SessionState.DESTROYED;
        boolean away = lives && Boolean.TRUE.equals(row.nodeAway);
        return away ? Boolean.TRUE : null;
    }
}
