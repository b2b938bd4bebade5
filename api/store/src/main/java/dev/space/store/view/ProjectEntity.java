package dev.space.store.view;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.Instant;
import org.hibernate.annotations.Immutable;

/** A project of an organisation. */
@Entity
@Immutable
@Table(name = "projects")
public class ProjectEntity {
    @Id public String id;

    @Column(name = "organisation_id")
    public String organisationId;

    public String name;

    @Column(name = "created_at")
    public Instant createdAt;
}
