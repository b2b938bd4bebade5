package dev.space.model;

/** Why a snapshot was made. */
public enum SnapshotReason {
    /** By the node itself, on its schedule; its retention may remove it. */
    ROLLING,
    /** A CHECKPOINT asked for it. */
    CHECKPOINT,
    /** A PAUSE: the session stands on it until it runs again. */
    PAUSE,
    /** The present that a ROLLBACK left. */
    SAFETY,
    /** The disk of a VM that died. */
    CRASH,
    /** What the children of a FORK continue from. */
    FORK
}
