package dev.space.contract.node;

/** Ends the VM and removes everything of the session from the node, snapshots included. */
public record ReleaseSession(StepRef ref) {}
