package dev.space.store.view;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.Instant;
import org.hibernate.annotations.Immutable;
import org.jspecify.annotations.Nullable;

/** Who did what, why and when; append-only. */
@Entity
@Immutable
@Table(name = "events")
public class EventEntity {
    @Id public long id;

    @Column(name = "project_id")
    public @Nullable String projectId;

    @Column(name = "session_id")
    public @Nullable String sessionId;

    public String actor;

    public String action;

    public String object;

    public String outcome;

    public String reason;

    public @Nullable Long epoch;

    @Column(name = "node_id")
    public @Nullable String nodeId;

    public Instant at;
}
