package dev.space.node.api;

import dev.space.contract.node.DeleteSnapshot;
import dev.space.contract.node.EndSandbox;
import dev.space.contract.node.PreserveDisk;
import dev.space.contract.node.ReleaseSession;
import dev.space.contract.node.StartSandbox;
import dev.space.contract.node.TakeSnapshot;
import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import dev.space.node.pool.WarmPool;
import dev.space.node.reports.Lease;
import dev.space.node.sandbox.MemoryBudget;
import dev.space.node.sandbox.SandboxManager;
import dev.space.node.templates.TemplateSource;
import dev.space.node.volumes.StorageUse;
import dev.space.node.volumes.Volume;
import dev.space.nodeapi.v1.DeleteSnapshotRequest;
import dev.space.nodeapi.v1.Done;
import dev.space.nodeapi.v1.EndSandboxRequest;
import dev.space.nodeapi.v1.InspectRequest;
import dev.space.nodeapi.v1.MeasureStorageRequest;
import dev.space.nodeapi.v1.NodeInventory;
import dev.space.nodeapi.v1.NodeLifecycleGrpc;
import dev.space.nodeapi.v1.ReleaseSessionRequest;
import dev.space.nodeapi.v1.RemoveSnapshotsRequest;
import dev.space.nodeapi.v1.SandboxStarted;
import dev.space.nodeapi.v1.SetEgressRequest;
import dev.space.nodeapi.v1.SnapshotTaken;
import dev.space.nodeapi.v1.StartSandboxRequest;
import dev.space.nodeapi.v1.Storage;
import dev.space.nodeapi.v1.TakeSnapshotRequest;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;

/** The lifecycle steps over gRPC. */
public final class LifecycleService extends NodeLifecycleGrpc.NodeLifecycleImplBase {

    private final String nodeId;
    private final SandboxManager manager;
    private final TemplateSource templates;
    private final Volume volume;
    private final MemoryBudget memory;
    private final WarmPool pool;
    private final Lease lease;

    public LifecycleService(
            String nodeId,
            SandboxManager manager,
            TemplateSource templates,
            Volume volume,
            MemoryBudget memory,
            WarmPool pool,
            Lease lease) {
        this.nodeId = nodeId;
        this.manager = manager;
        this.templates = templates;
        this.volume = volume;
        this.memory = memory;
        this.pool = pool;
        this.lease = lease;
    }

    @Override
    public void startSandbox(StartSandboxRequest request, StreamObserver<SandboxStarted> caller) {
        Calls.unary(
                caller,
                () -> {
                    StartSandbox start = start(request);
                    lease.demand(Duration.ZERO);
                    if (!manager.canStartAtOnce(start)) {
                        // Callers of this API do not wait that long; the activity does.
                        prepare(start);
                        throw new SpaceException(
                                ErrorCode.UNAVAILABLE,
                                "the template's start snapshot is being made%s; use the node's"
                                                .formatted(fetching())
                                        + " task queue, which waits for it");
                    }
                    return Wire.started(manager.start(start));
                });
    }

    private void prepare(StartSandbox start) {
        // An unknown template is told at once.
        templates.requireKnown(start.template());
        Thread.ofVirtual()
                .name("prepare")
                .start(() -> templates.start(start.template(), start.size()));
    }

    private String fetching() {
        String progress = templates.progress();
        return progress.isEmpty() ? "" : " (" + progress + ")";
    }

    private static StartSandbox start(StartSandboxRequest request) {
        SnapshotId snapshot =
                request.getSnapshotId().isEmpty() ? null : new SnapshotId(request.getSnapshotId());
        SessionId origin =
                request.getSnapshotSessionId().isEmpty()
                        ? null
                        : new SessionId(request.getSnapshotSessionId());
        return new StartSandbox(
                Wire.ref(request.getRef()),
                request.getTemplateDigest(),
                Wire.size(request.getSize()),
                snapshot,
                origin,
                request.getHostname(),
                request.getMaxProcesses(),
                request.getNewest(),
                request.getNoNetwork());
    }

    private static TakeSnapshot take(TakeSnapshotRequest request) {
        return new TakeSnapshot(
                Wire.ref(request.getRef()), new SnapshotId(request.getSnapshotId()));
    }

    @Override
    public void pauseSandbox(TakeSnapshotRequest request, StreamObserver<SnapshotTaken> caller) {
        Calls.unary(caller, () -> Wire.taken(manager.pause(take(request))));
    }

    @Override
    public void checkpointSandbox(
            TakeSnapshotRequest request, StreamObserver<SnapshotTaken> caller) {
        Calls.unary(caller, () -> Wire.taken(manager.checkpoint(take(request))));
    }

    @Override
    public void preserveDisk(TakeSnapshotRequest request, StreamObserver<SnapshotTaken> caller) {
        Calls.unary(
                caller,
                () -> {
                    TakeSnapshot take = take(request);
                    var taken = manager.preserveDisk(new PreserveDisk(take.ref(), take.snapshot()));
                    if (taken == null) {
                        throw new SpaceException(
                                ErrorCode.SNAPSHOT_NOT_FOUND,
                                "no disk of a dead sandbox of the session is here");
                    }
                    return Wire.taken(taken);
                });
    }

    @Override
    public void endSandbox(EndSandboxRequest request, StreamObserver<Done> caller) {
        Calls.unary(
                caller,
                () -> {
                    manager.end(new EndSandbox(Wire.ref(request.getRef()), request.getReason()));
                    return Done.getDefaultInstance();
                });
    }

    @Override
    public void releaseSession(ReleaseSessionRequest request, StreamObserver<Done> caller) {
        Calls.unary(
                caller,
                () -> {
                    manager.release(new ReleaseSession(Wire.ref(request.getRef())));
                    return Done.getDefaultInstance();
                });
    }

    @Override
    public void deleteSnapshot(DeleteSnapshotRequest request, StreamObserver<Done> caller) {
        Calls.unary(
                caller,
                () -> {
                    manager.deleteSnapshot(
                            new DeleteSnapshot(
                                    Wire.ref(request.getRef()),
                                    new SnapshotId(request.getSnapshotId())));
                    return Done.getDefaultInstance();
                });
    }

    @Override
    public void removeSnapshots(RemoveSnapshotsRequest request, StreamObserver<Done> caller) {
        Calls.unary(
                caller,
                () -> {
                    SessionId session = new SessionId(request.getSessionId());
                    List<SnapshotId> snapshots =
                            request.getSnapshotIdsList().stream().map(SnapshotId::new).toList();
                    if (!manager.rolling().forget(session, snapshots)) {
                        throw new SpaceException(
                                ErrorCode.UNAVAILABLE, "another step is at work on " + session);
                    }
                    return Done.getDefaultInstance();
                });
    }

    @Override
    public void setEgress(SetEgressRequest request, StreamObserver<Done> caller) {
        Calls.unary(
                caller,
                () -> {
                    manager.setEgress(
                            new SessionId(request.getSessionId()),
                            request.getEpoch(),
                            Wire.network(request.getNetwork()));
                    return Done.getDefaultInstance();
                });
    }

    @Override
    public void inspect(InspectRequest request, StreamObserver<NodeInventory> caller) {
        Calls.unary(
                caller,
                () -> {
                    SessionId only =
                            request.getSessionId().isEmpty()
                                    ? null
                                    : new SessionId(request.getSessionId());
                    return NodeInventory.newBuilder()
                            .setNodeId(nodeId)
                            .setHasSnapshots(only != null)
                            .addAllSandboxes(
                                    manager.inspect(only).stream().map(Wire::state).toList())
                            .setDiskFreeBytes(volume.freeBytes())
                            .setDiskTotalBytes(volume.totalBytes())
                            .setMemoryFreeBytes(memory.freeBytes())
                            .setHot(pool.hotCount())
                            .setPrepared(pool.preparedCount())
                            .addAllTemplates(
                                    templates.states().stream().map(Wire::template).toList())
                            .build();
                });
    }

    @Override
    public void measureStorage(MeasureStorageRequest request, StreamObserver<Storage> caller) {
        Calls.unary(
                caller,
                () -> {
                    SessionId session = new SessionId(request.getSessionId());
                    return Storage.newBuilder()
                            .addAllParts(
                                    StorageUse.of(volume, session).stream()
                                            .map(Wire::storage)
                                            .toList())
                            .build();
                });
    }
}
