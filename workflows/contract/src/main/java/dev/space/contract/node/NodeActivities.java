package dev.space.contract.node;

import io.temporal.activity.ActivityInterface;
import org.jspecify.annotations.Nullable;

/**
 * The lifecycle steps of a node, served on {@code node.<id>}. The node's gRPC API has the same
 * steps for calls that must not wait for a queue. Every step is idempotent and fenced. A failure is
 * an {@code ApplicationFailure} whose type is the name of an {@link dev.space.model.ErrorCode}.
 */
@ActivityInterface
public interface NodeActivities {

    SandboxStarted startSandbox(StartSandbox request);

    /** Quiesce, stop, publish, end the VM. After publish that VM never runs again. */
    SnapshotTaken pauseSandbox(TakeSnapshot request);

    /** As pause without ending the VM. */
    SnapshotTaken checkpointSandbox(TakeSnapshot request);

    /** Null when there is no disk of a dead sandbox here. */
    @Nullable SnapshotTaken preserveDisk(PreserveDisk request);

    void endSandbox(EndSandbox request);

    void releaseSession(ReleaseSession request);

    void deleteSnapshot(DeleteSnapshot request);
}
