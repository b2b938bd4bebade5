package dev.space.store.view;

import dev.space.model.Durability;
import dev.space.model.SnapshotKind;
import dev.space.model.SnapshotReason;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.Instant;
import org.hibernate.annotations.Formula;
import org.hibernate.annotations.Immutable;
import org.jspecify.annotations.Nullable;

/** A published snapshot. */
@Entity
@Immutable
@Table(name = "snapshots")
public class SnapshotEntity {
    @Id public String id;

    @Column(name = "session_id")
    public String sessionId;

    @Column(name = "operation_id")
    public @Nullable String operationId;

    @Enumerated(EnumType.STRING)
    public SnapshotKind kind;

    public String state;

    @Enumerated(EnumType.STRING)
    public Durability durability;

    @Column(name = "node_id")
    public @Nullable String nodeId;

    public long epoch;

    public long stop;

    public long bytes;

    public @Nullable String name;

    @Column(name = "pinned_until")
    public @Nullable Instant pinnedUntil;

    @Enumerated(EnumType.STRING)
    public SnapshotReason reason;

    public @Nullable Boolean quiesced;

    @Formula(
            "(SELECT d.bytes_stored FROM durable_snapshots d WHERE d.snapshot_id = id"
                    + " AND d.state = 'COMPLETE')")
    public @Nullable Long bytesStored;

    @Formula(
            "(SELECT d.bytes_uploaded FROM durable_snapshots d WHERE d.snapshot_id = id"
                    + " AND d.state = 'COMPLETE')")
    public @Nullable Long bytesUploaded;

    @Formula(
            "(SELECT d.completed_at FROM durable_snapshots d WHERE d.snapshot_id = id"
                    + " AND d.state = 'COMPLETE')")
    public @Nullable Instant storedAt;

    @Column(name = "taken_at")
    public Instant takenAt;
}
