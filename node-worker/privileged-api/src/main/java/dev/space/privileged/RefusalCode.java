package dev.space.privileged;

/** Why node-manager did not do it. */
public enum RefusalCode {
    /** The frame is malformed or a field is out of range. */
    INVALID,
    /** A VMM runs in the slot. */
    SLOT_BUSY,
    /** The slot was not made, or nothing runs in it. */
    NO_SLOT,
    /** No such start in this slot. */
    NO_SUCH_START,
    /** A file of the VM is missing or is not what it must be. */
    BAD_FILES,
    /** The bundle is missing or not root's. */
    NO_BUNDLE,
    /** The machine did not do it in time; it may be tried again. */
    TIMED_OUT,
    /** The machine refused; the detail has its words. */
    FAILED,
    /** Client side only: node-manager cannot be reached or broke the protocol. */
    UNREACHABLE
}
