package dev.space.model;

/** Why a session changed last. The wire name is the name. */
public enum ReasonCode {
    USER,
    IDLE,
    DEADLINE,
    NODE_LOST,
    NODE_AWAY,
    NODE_DISK_FULL,
    OUT_OF_MEMORY,
    GUEST_CRASH,
    GUEST_SHUTDOWN,
    VM_KILLED,
    CRASH_LOOP,
    START_FAILED,
    KEY_REVOKED,
    PLATFORM_SHUTDOWN,
    PLATFORM
}
