package dev.space.store.view;

import dev.space.model.Durability;
import dev.space.model.ReasonCode;
import dev.space.model.SessionState;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.Instant;
import java.util.Map;
import org.hibernate.annotations.Formula;
import org.hibernate.annotations.Immutable;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.type.SqlTypes;
import org.jspecify.annotations.Nullable;

/** A session as the API shows it; its environment is left out on purpose. */
@Entity
@Immutable
@Table(name = "sessions")
public class SessionEntity {
    @Id public String id;

    @Column(name = "project_id")
    public String projectId;

    @Enumerated(EnumType.STRING)
    public SessionState state;

    @Enumerated(EnumType.STRING)
    public SessionState desired;

    @Enumerated(EnumType.STRING)
    public Durability durability;

    @Column(name = "template_name")
    public String templateName;

    @Column(name = "template_digest")
    public String templateDigest;

    public String size;

    @JdbcTypeCode(SqlTypes.JSON)
    public Map<String, String> labels;

    @Column(name = "auto_resume")
    public boolean autoResume;

    @Column(name = "deadline_at")
    public @Nullable Instant deadlineAt;

    @Column(name = "deadline_action")
    public @Nullable String deadlineAction;

    @Column(name = "durable_every_seconds")
    public @Nullable Long durableEverySeconds;

    @Column(name = "idle_seconds")
    public @Nullable Long idleSeconds;

    @Column(name = "idle_action")
    public @Nullable String idleAction;

    public long epoch;

    @Column(name = "operation_id")
    public @Nullable String operationId;

    @Column(name = "node_id")
    public @Nullable String nodeId;

    @Column(name = "seen_node")
    public @Nullable String seenNode;

    @Column(name = "seen_epoch")
    public @Nullable Long seenEpoch;

    @Column(name = "seen_at")
    public @Nullable Instant seenAt;

    /** The node's lease is over: nothing reaches the session until the node is back. */
    @Formula("(SELECT n.lease_until < now() FROM nodes n WHERE n.id = node_id)")
    public @Nullable Boolean nodeAway;

    @Column(name = "snapshot_id")
    public @Nullable String snapshotId;

    @Column(name = "durable_snapshot_id")
    public @Nullable String durableSnapshotId;

    @Column(name = "durable_taken_at")
    public @Nullable Instant durableTakenAt;

    public String reason;

    @Enumerated(EnumType.STRING)
    @Column(name = "reason_code")
    public ReasonCode reasonCode;

    @Column(name = "reason_at")
    public Instant reasonAt;

    @Column(name = "tombstone_at")
    public @Nullable Instant tombstoneAt;

    @Column(name = "tombstone_operation")
    public @Nullable String tombstoneOperation;

    @Column(name = "origin_session_id")
    public @Nullable String originSessionId;

    @Column(name = "fork_operation")
    public @Nullable String forkOperation;

    @Column(name = "last_active_at")
    public @Nullable Instant lastActiveAt;

    @Column(name = "created_at")
    public Instant createdAt;

    @Column(name = "updated_at")
    public Instant updatedAt;
}
