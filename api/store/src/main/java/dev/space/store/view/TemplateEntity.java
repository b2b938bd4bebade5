package dev.space.store.view;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.Instant;
import org.hibernate.annotations.Immutable;

/** A published start image. */
@Entity
@Immutable
@Table(name = "templates")
public class TemplateEntity {
    @Id public String digest;

    public String name;

    @Column(name = "reported_at")
    public Instant reportedAt;
}
