package dev.space.contract.node;

import io.temporal.activity.ActivityInterface;
import org.jspecify.annotations.Nullable;

/**
 * The lifecycle steps of a node, served on {@code node.<id>}. The node's gRPC API has the short
 * ones too, for calls that must not wait for a queue. Every step is idempotent and fenced. A
 * failure is an {@code ApplicationFailure} whose type is the name of an {@link
 * dev.space.model.ErrorCode}.
 *
 * <p>A step heartbeats at least every {@link #HEARTBEAT_MILLIS}, from its beginning on, so that the
 * workflow notices within {@link #HEARTBEAT_TIMEOUT_MILLIS} when the node's process is gone.
 */
@ActivityInterface
public interface NodeActivities {

    long HEARTBEAT_MILLIS = 5_000;

    /** Longer than any pause of a loaded node's process. */
    long HEARTBEAT_TIMEOUT_MILLIS = 30_000;

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

    /** Ends early, as stale, when a newer fence comes: that is how it is cancelled. */
    SnapshotUploaded uploadSnapshot(UploadSnapshot request);

    /** Ends early, as stale, when a newer fence comes: that is how it is cancelled. */
    SnapshotTaken downloadSnapshot(DownloadSnapshot request);
}
