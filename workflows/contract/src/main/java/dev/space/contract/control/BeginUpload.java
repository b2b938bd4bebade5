package dev.space.contract.control;

import dev.space.contract.session.SnapshotRef;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.SessionId;

/**
 * Writes down that a snapshot is going to be uploaded, before a byte of it is: whatever the object
 * store then has of it is known to somebody.
 *
 * @param snapshot is listed with this write when it is not yet
 */
public record BeginUpload(
        SessionId session, OperationId operation, Fence fence, SnapshotRef snapshot) {}
