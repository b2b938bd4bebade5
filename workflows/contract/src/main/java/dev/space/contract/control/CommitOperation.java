package dev.space.contract.control;

import dev.space.contract.session.DurableRef;
import dev.space.contract.session.Reason;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.OperationState;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The one write that ends an operation.
 *
 * @param outcome DONE or FAILED, for the operation and those that joined it
 * @param state observed state from now on
 * @param node where the sandbox or its newest snapshot is
 * @param vm the start that made the running VM; null when none runs
 * @param snapshots listed with this write when they are not yet
 * @param snapshotName name the user gave the snapshot; null without one
 * @param owed nodes that could not be reached and owe a clean-up
 * @param durable of a SUSPEND: what was stored; of a RECOVER: the stored snapshot that the present
 *     goes on from; null for everything else
 * @param startMicros phases of a start from the template, by name; null for everything else
 */
public record CommitOperation(
        SessionId session,
        OperationId operation,
        Fence fence,
        OperationState outcome,
        @Nullable ErrorCode error,
        String detail,
        SessionState state,
        @Nullable String node,
        @Nullable Fence vm,
        List<SnapshotRef> snapshots,
        @Nullable String snapshotName,
        List<OperationId> joined,
        List<String> owed,
        Reason reason,
        @Nullable DurableRef durable,
        @Nullable Map<String, Long> startMicros) {}
