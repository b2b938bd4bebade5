package dev.space.contract.control;

import dev.space.contract.session.SnapshotRef;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.SessionId;
import java.util.List;

/**
 * Lists snapshots while their operation is still in flight.
 *
 * @param pinnedForMillis retention must not remove them before; 0 for no pin
 */
public record RecordSnapshots(
        SessionId session,
        OperationId operation,
        Fence fence,
        List<SnapshotRef> snapshots,
        long pinnedForMillis) {}
