package dev.space.activities;

import dev.space.contract.control.DirectNodeActivities;
import dev.space.contract.node.ReleaseSession;
import dev.space.contract.node.SandboxStarted;
import dev.space.contract.node.StartSandbox;
import dev.space.contract.node.StepRef;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.nodeapi.NodeChannels;
import dev.space.nodeapi.NodeErrors;
import dev.space.nodeapi.v1.NodeLifecycleGrpc;
import dev.space.nodeapi.v1.ReleaseSessionRequest;
import dev.space.nodeapi.v1.StartSandboxRequest;
import dev.space.store.NodeStore;
import io.grpc.StatusRuntimeException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.concurrent.TimeUnit;

/** Short steps straight to a node's API, each with the hard cap of the contract. */
@Singleton
public class DirectNodeActivitiesImpl implements DirectNodeActivities {
    private final NodeStore nodes;
    private final NodeChannels channels;
    private final CreatePhases phases;

    @Inject
    public DirectNodeActivitiesImpl(NodeStore nodes, NodeChannels channels, CreatePhases phases) {
        this.nodes = nodes;
        this.channels = channels;
        this.phases = phases;
    }

    @Override
    public SandboxStarted startSandboxNow(String node, StartSandbox request) {
        return Failures.translated(() -> {
            NodeStore.StartTarget target =
                    nodes.startTarget(node, request.ref().session())
                            .orElseThrow(() -> unknown(node));
            StartSandboxRequest.Builder call =
                    StartSandboxRequest.newBuilder()
                            .setNoNetwork(target.noNetwork())
                            .setRef(ref(request.ref()))
                            .setTemplateDigest(request.template())
                            .setSize(request.size().wireName())
                            .setHostname(request.hostname())
                            .setMaxProcesses(request.maxProcesses());
            if (request.snapshot() != null) {
                call.setSnapshotId(request.snapshot().value());
            }
            if (request.origin() != null) {
                call.setSnapshotSessionId(request.origin().value());
            }
            try {
                long began = System.nanoTime();
                var started = stub(target.apiAddress()).startSandbox(call.build());
                if (request.snapshot() == null) {
                    phases.ended("node-call", began);
                }
                return new SandboxStarted(
                        started.getEngine(),
                        started.getRung(),
                        started.getMemoryLost(),
                        started.getPhaseMicrosMap(),
                        started.getAttempt());
            } catch (StatusRuntimeException failure) {
                throw NodeErrors.toException(failure, node);
            }
        });
    }

    @Override
    public void releaseSessionNow(String node, ReleaseSession request) {
        Failures.translated(() -> {
            try {
                return stub(nodes.address(node).orElseThrow(() -> unknown(node)))
                        .releaseSession(
                                ReleaseSessionRequest.newBuilder()
                                        .setRef(ref(request.ref()))
                                        .build());
            } catch (StatusRuntimeException failure) {
                throw NodeErrors.toException(failure, node);
            }
        });
    }

    private static SpaceException unknown(String node) {
        return new SpaceException(ErrorCode.NODE_UNREACHABLE, "node " + node + " never registered");
    }

    private NodeLifecycleGrpc.NodeLifecycleBlockingStub stub(String address) {
        return NodeLifecycleGrpc.newBlockingStub(channels.to(address))
                .withDeadlineAfter(CAP_MILLIS, TimeUnit.MILLISECONDS);
    }

    private static dev.space.nodeapi.v1.StepRef ref(StepRef ref) {
        return dev.space.nodeapi.v1.StepRef.newBuilder()
                .setSessionId(ref.session().value())
                .setOperationId(ref.operation().value())
                .setEpoch(ref.fence().epoch())
                .setNumber(ref.fence().number())
                .setAttempt(ref.fence().attempt())
                .build();
    }
}
