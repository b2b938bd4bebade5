package dev.space.model;

/** Every operation that can be in flight on a session, those of later releases included. */
public enum OperationKind {
    PREPARE,
    CREATE,
    BIND,
    PAUSE,
    RESUME,
    CHECKPOINT,
    FORK,
    ROLLBACK,
    SUSPEND,
    RESTORE,
    RECOVER,
    DESTROY
}
