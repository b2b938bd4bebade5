package dev.space.app;

import com.google.protobuf.ByteString;
import dev.space.contract.node.EndSandbox;
import dev.space.contract.node.ReleaseSession;
import dev.space.contract.node.SandboxStarted;
import dev.space.contract.node.StartSandbox;
import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.SessionId;
import dev.space.model.Size;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import dev.space.nodeapi.NodeErrors;
import dev.space.nodeapi.v1.Done;
import dev.space.nodeapi.v1.EndSandboxRequest;
import dev.space.nodeapi.v1.ExecReply;
import dev.space.nodeapi.v1.ExecRequest;
import dev.space.nodeapi.v1.FileChunk;
import dev.space.nodeapi.v1.FileInfo;
import dev.space.nodeapi.v1.FileRequest;
import dev.space.nodeapi.v1.InspectRequest;
import dev.space.nodeapi.v1.NetworkPolicy;
import dev.space.nodeapi.v1.NodeDataPlaneGrpc;
import dev.space.nodeapi.v1.NodeInventory;
import dev.space.nodeapi.v1.NodeLifecycleGrpc;
import dev.space.nodeapi.v1.ProcessInfo;
import dev.space.nodeapi.v1.ReadFileRequest;
import dev.space.nodeapi.v1.ReleaseSessionRequest;
import dev.space.nodeapi.v1.SandboxState;
import dev.space.nodeapi.v1.SetEgressRequest;
import dev.space.nodeapi.v1.StartSandboxRequest;
import dev.space.nodeapi.v1.StepRef;
import dev.space.nodeapi.v1.Target;
import dev.space.nodeapi.v1.WriteFileRequest;
import dev.space.testkit.FakeNode;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.temporal.failure.ApplicationFailure;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The node's gRPC API over testkit's node: enough of it to see that the edge reaches a sandbox. */
final class FakeNodeServer implements AutoCloseable {
    final FakeNode node;
    final AtomicInteger starts = new AtomicInteger();

    /** What the node was told of sessions' networks. */
    final Map<String, NetworkPolicy> networks = new ConcurrentHashMap<>();

    private final Map<String, byte[]> files = new ConcurrentHashMap<>();
    private final Server server;

    FakeNodeServer(FakeNode node) throws IOException {
        this.node = node;
        this.server =
                NettyServerBuilder.forAddress(
                                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .addService(new Lifecycle())
                        .addService(new DataPlane())
                        .build()
                        .start();
    }

    String address() {
        return "127.0.0.1:" + server.getPort();
    }

    @Override
    public void close() {
        server.shutdownNow();
    }

    private static <T> void answer(StreamObserver<T> to, Supplier<T> work) {
        try {
            to.onNext(work.get());
            to.onCompleted();
        } catch (SpaceException failure) {
            to.onError(NodeErrors.toStatus(failure));
        } catch (ApplicationFailure failure) {
            to.onError(
                    NodeErrors.toStatus(
                            new SpaceException(
                                    ErrorCode.valueOf(failure.getType()),
                                    failure.getOriginalMessage())));
        }
    }

    private static dev.space.contract.node.StepRef ref(StepRef ref) {
        return new dev.space.contract.node.StepRef(
                new SessionId(ref.getSessionId()),
                new OperationId(ref.getOperationId()),
                new Fence(ref.getEpoch(), ref.getNumber(), ref.getAttempt()));
    }

    private final class Lifecycle extends NodeLifecycleGrpc.NodeLifecycleImplBase {
        @Override
        public void startSandbox(
                StartSandboxRequest request,
                StreamObserver<dev.space.nodeapi.v1.SandboxStarted> to) {
            answer(
                    to,
                    () -> {
                        starts.incrementAndGet();
                        SandboxStarted started =
                                node.startSandbox(
                                        new StartSandbox(
                                                ref(request.getRef()),
                                                request.getTemplateDigest(),
                                                Size.fromWireName(request.getSize()).orElseThrow(),
                                                request.getSnapshotId().isEmpty()
                                                        ? null
                                                        : new SnapshotId(request.getSnapshotId()),
                                                request.getSnapshotSessionId().isEmpty()
                                                        ? null
                                                        : new SessionId(
                                                                request.getSnapshotSessionId()),
                                                request.getHostname(),
                                                request.getMaxProcesses()));
                        return dev.space.nodeapi.v1.SandboxStarted.newBuilder()
                                .setEngine(started.engine())
                                .setRung(started.rung())
                                .setAttempt(started.attempt())
                                .putAllPhaseMicros(started.phaseMicros())
                                .build();
                    });
        }

        @Override
        public void releaseSession(ReleaseSessionRequest request, StreamObserver<Done> to) {
            answer(
                    to,
                    () -> {
                        node.releaseSession(new ReleaseSession(ref(request.getRef())));
                        return Done.getDefaultInstance();
                    });
        }

        @Override
        public void setEgress(SetEgressRequest request, StreamObserver<Done> to) {
            answer(
                    to,
                    () -> {
                        FakeNode.Vm vm = node.vm(new SessionId(request.getSessionId()));
                        if (vm == null || vm.start().epoch() != request.getEpoch()) {
                            throw new SpaceException(ErrorCode.STALE_FENCE, "another epoch");
                        }
                        networks.put(request.getSessionId(), request.getNetwork());
                        return Done.getDefaultInstance();
                    });
        }

        @Override
        public void inspect(InspectRequest request, StreamObserver<NodeInventory> to) {
            answer(
                    to,
                    () -> {
                        NodeInventory.Builder all = NodeInventory.newBuilder().setNodeId(node.id());
                        for (FakeNode.Vm vm : node.running()) {
                            all.addSandboxes(
                                    SandboxState.newBuilder()
                                            .setSessionId(vm.session().value())
                                            .setEpoch(vm.start().epoch())
                                            .setRunningEpoch(vm.start().epoch())
                                            .setState("RUNNING"));
                        }
                        return all.build();
                    });
        }

        @Override
        public void endSandbox(EndSandboxRequest request, StreamObserver<Done> to) {
            answer(
                    to,
                    () -> {
                        node.endSandbox(new EndSandbox(ref(request.getRef()), request.getReason()));
                        return Done.getDefaultInstance();
                    });
        }
    }

    private final class DataPlane extends NodeDataPlaneGrpc.NodeDataPlaneImplBase {
        private void check(Target target) {
            FakeNode.Vm vm = node.vm(new SessionId(target.getSessionId()));
            if (vm == null || !vm.running() || vm.start().epoch() != target.getEpoch()) {
                throw new SpaceException(ErrorCode.STALE_FENCE, "another epoch");
            }
        }

        /** Answers its environment, so that a test sees what reached the process. */
        @Override
        public void exec(ExecRequest request, StreamObserver<ExecReply> to) {
            answer(
                    to,
                    () -> {
                        check(request.getTarget());
                        boolean known = !request.getSpec().getCommand().toStringUtf8().equals("no");
                        return ExecReply.newBuilder()
                                .setProcess(
                                        ProcessInfo.newBuilder()
                                                .setProcessId(request.getProcessId())
                                                .setState("EXITED")
                                                .setExitCode(known ? 0 : 127)
                                                .setReason(known ? "EXITED" : "NOT_FOUND"))
                                .setStdout(
                                        ByteString.copyFromUtf8(
                                                new java.util.TreeMap<>(
                                                                request.getSpec().getEnvMap())
                                                        .toString()))
                                .build();
                    });
        }

        @Override
        public StreamObserver<WriteFileRequest> writeFile(StreamObserver<FileInfo> to) {
            return new StreamObserver<>() {
                private final ByteArrayOutputStream data = new ByteArrayOutputStream();
                private @Nullable FileRequest file;

                @Override
                public void onNext(WriteFileRequest piece) {
                    if (piece.hasHeader()) {
                        file = piece.getHeader().getFile();
                    }
                    data.writeBytes(piece.getData().toByteArray());
                }

                @Override
                public void onError(Throwable failure) {
                    data.reset();
                }

                @Override
                public void onCompleted() {
                    answer(
                            to,
                            () -> {
                                FileRequest target = java.util.Objects.requireNonNull(file);
                                check(target.getTarget());
                                files.put(key(target), data.toByteArray());
                                return info(target, data.size());
                            });
                }
            };
        }

        @Override
        public void statFile(FileRequest request, StreamObserver<FileInfo> to) {
            answer(to, () -> info(request, content(request).length));
        }

        @Override
        public void readFile(ReadFileRequest request, StreamObserver<FileChunk> to) {
            answer(
                    to,
                    () -> {
                        check(request.getFile().getTarget());
                        byte[] all = content(request.getFile());
                        int from = (int) Math.min(request.getOffset(), all.length);
                        int to2 =
                                request.getLength() < 0
                                        ? all.length
                                        : (int) Math.min(all.length, from + request.getLength());
                        return FileChunk.newBuilder()
                                .setInfo(info(request.getFile(), all.length))
                                .setData(ByteString.copyFrom(all, from, to2 - from))
                                .build();
                    });
        }

        private byte[] content(FileRequest request) {
            byte[] all = files.get(key(request));
            if (all == null) {
                throw new SpaceException(ErrorCode.FILE_NOT_FOUND, "no such file");
            }
            return all;
        }

        private static String key(FileRequest request) {
            return request.getTarget().getSessionId() + request.getPath().toStringUtf8();
        }

        private static FileInfo info(FileRequest request, long size) {
            return FileInfo.newBuilder()
                    .setPath(request.getPath())
                    .setName(request.getPath())
                    .setKind("file")
                    .setSize(size)
                    .setMode(0644)
                    .build();
        }
    }
}
