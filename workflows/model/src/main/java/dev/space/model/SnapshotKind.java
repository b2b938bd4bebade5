package dev.space.model;

/**
 * FULL holds memory, disk and device state of one stop; DISK holds the disk alone, so resuming it
 * is a boot.
 */
public enum SnapshotKind {
    FULL,
    DISK
}
