package dev.space.model;

/** What happens to a session without anybody asking for it. Rows of the event table. */
public enum SessionEvent {
    VM_EXITED,
    NODE_LEASE_LOST,
    NODE_DECLARED_LOST,
    NODE_BACK_EPOCH_CURRENT,
    NODE_BACK_EPOCH_OLD,
    IDLE,
    NODE_FULL,
    DEADLINE,
    KEY_REVOKED,
    KEY_SERVICE_UNREACHABLE
}
