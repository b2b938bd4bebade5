package dev.space.model;

/**
 * What a caller can ask of a session. Each is a column of the lifecycle table; docs/lifecycle.md
 * shows every cell. CREATE is not here: it is what makes the session exist.
 */
public enum Command {
    PAUSE,
    RESUME,
    CHECKPOINT,
    FORK,
    ROLLBACK,
    SUSPEND,
    RESTORE,
    RECOVER,
    /** Exec, files, processes, ports: whatever needs a running sandbox but changes no state. */
    DATA_PLANE,
    DESTROY
}
