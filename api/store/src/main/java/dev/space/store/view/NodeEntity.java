package dev.space.store.view;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.Instant;
import org.hibernate.annotations.Formula;
import org.hibernate.annotations.Immutable;

/** A host that runs sandboxes. */
@Entity
@Immutable
@Table(name = "nodes")
public class NodeEntity {
    @Id public String id;

    @Column(name = "api_address")
    public String apiAddress;

    public String engine;

    /** Of the node's engine, as it registered: tcg, kvm or none. */
    @Formula("coalesce(jsonb_extract_path_text(engines, '0', 'accelerator'), 'none')")
    public String accelerator;

    public String version;

    @Column(name = "memory_bytes")
    public long memoryBytes;

    @Column(name = "memory_free_bytes")
    public long memoryFreeBytes;

    @Column(name = "disk_bytes")
    public long diskBytes;

    @Column(name = "disk_free_bytes")
    public long diskFreeBytes;

    public boolean cordoned;

    public int slots;

    @Column(name = "slots_free")
    public int slotsFree;

    @Column(name = "lease_until")
    public Instant leaseUntil;

    @Column(name = "registered_at")
    public Instant registeredAt;
}
