package dev.space.contract.node;

import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.SessionId;

/**
 * Who asks a node for a step. The node persists the highest fence it has seen for the session and
 * answers {@code STALE_FENCE} to a lower one; a retry finds by the operation's id what its first
 * attempt made. The workflow sets the whole fence and repeats a failed step itself with a higher
 * attempt, so an activity uses the fence as it comes.
 */
public record StepRef(SessionId session, OperationId operation, Fence fence) {}
