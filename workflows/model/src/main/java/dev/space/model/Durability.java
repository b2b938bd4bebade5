package dev.space.model;

/** What of a session would be left if its node were lost now. */
public enum Durability {
    /** Nothing: the sandbox's memory and disk exist once. */
    NONE,
    /** A snapshot on the session's own node: survives the VM, not the node. */
    LOCAL,
    /** A complete snapshot in the object store. */
    DURABLE
}
