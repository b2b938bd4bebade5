package dev.space.contract.control;

import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.SessionId;

/**
 * Asks for another node, because a start failed on this one.
 *
 * @param fence the operation's fence under the epoch that is given up; asking twice for the same
 *     epoch gives the same new epoch and node
 * @param acknowledged the node answered to the fence, so that nothing of this epoch can start there
 */
public record MoveOperation(
        SessionId session, OperationId operation, Fence fence, String from, boolean acknowledged) {}
