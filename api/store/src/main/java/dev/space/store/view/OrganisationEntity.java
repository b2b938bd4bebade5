package dev.space.store.view;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.Instant;
import org.hibernate.annotations.Immutable;

/** An organisation, which owns projects. */
@Entity
@Immutable
@Table(name = "organisations")
public class OrganisationEntity {
    @Id public String id;

    public String name;

    @Column(name = "created_at")
    public Instant createdAt;
}
