package dev.space.store.view;

import dev.space.model.ErrorCode;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.Instant;
import org.hibernate.annotations.Immutable;
import org.jspecify.annotations.Nullable;

/** One lifecycle command and what became of it. */
@Entity
@Immutable
@Table(name = "operations")
public class OperationEntity {
    @Id public String id;

    @Column(name = "session_id")
    public String sessionId;

    @Enumerated(EnumType.STRING)
    public OperationKind kind;

    @Enumerated(EnumType.STRING)
    public OperationState state;

    public String actor;

    public @Nullable String argument;

    public @Nullable Long number;

    public @Nullable Long epoch;

    @Enumerated(EnumType.STRING)
    @Column(name = "error_code")
    public @Nullable ErrorCode errorCode;

    @Column(name = "error_detail")
    public @Nullable String errorDetail;

    @Column(name = "requested_at")
    public Instant requestedAt;

    @Column(name = "accepted_at")
    public @Nullable Instant acceptedAt;

    @Column(name = "ended_at")
    public @Nullable Instant endedAt;
}
