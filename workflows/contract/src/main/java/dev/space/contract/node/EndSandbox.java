package dev.space.contract.node;

/**
 * Fences the session and ends its VM if one runs. Frees the slot and {@code live/}, never a listed
 * snapshot. Success when nothing of an older fence runs any more; {@code STALE_FENCE} means done.
 */
public record EndSandbox(StepRef ref, String reason) {}
