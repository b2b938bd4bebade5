package dev.space.node.app;

import com.google.protobuf.ByteString;
import dev.space.model.Ids;
import dev.space.nodeapi.v1.ExecReply;
import dev.space.nodeapi.v1.ExecRequest;
import dev.space.nodeapi.v1.InspectRequest;
import dev.space.nodeapi.v1.NodeDataPlaneGrpc;
import dev.space.nodeapi.v1.NodeInventory;
import dev.space.nodeapi.v1.NodeLifecycleGrpc;
import dev.space.nodeapi.v1.OutputChunk;
import dev.space.nodeapi.v1.ProcessSpec;
import dev.space.nodeapi.v1.ReadOutputRequest;
import dev.space.nodeapi.v1.ReleaseSessionRequest;
import dev.space.nodeapi.v1.SandboxStarted;
import dev.space.nodeapi.v1.SandboxState;
import dev.space.nodeapi.v1.SnapshotTaken;
import dev.space.nodeapi.v1.StartProcessRequest;
import dev.space.nodeapi.v1.StartSandboxRequest;
import dev.space.nodeapi.v1.StepRef;
import dev.space.nodeapi.v1.TakeSnapshotRequest;
import dev.space.nodeapi.v1.Target;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import java.security.SecureRandom;
import java.util.Iterator;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** One session seen through the node API, as the control plane would. */
final class NodeClient implements AutoCloseable {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final long DEADLINE_SECONDS = 180;

    private final ManagedChannel channel;
    private final String template;
    private final String size;
    private final String session = id("ses");
    private long epoch;
    private long number;
    private long attempt;
    private String operation = "";

    NodeClient(int port, String token, String template, String size) {
        Metadata headers = new Metadata();
        headers.put(
                Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER),
                "Bearer " + token);
        this.channel =
                NettyChannelBuilder.forAddress("127.0.0.1", port)
                        .usePlaintext()
                        .intercept(MetadataUtils.newAttachHeadersInterceptor(headers))
                        .build();
        this.template = template;
        this.size = size;
    }

    static String id(String prefix) {
        byte[] bytes = new byte[Ids.RANDOM_BYTES];
        RANDOM.nextBytes(bytes);
        return Ids.text(prefix, bytes);
    }

    NodeLifecycleGrpc.NodeLifecycleBlockingStub lifecycle() {
        return NodeLifecycleGrpc.newBlockingStub(channel)
                .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
    }

    NodeDataPlaneGrpc.NodeDataPlaneBlockingStub data() {
        return NodeDataPlaneGrpc.newBlockingStub(channel)
                .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
    }

    Target target() {
        return Target.newBuilder().setSessionId(session).setEpoch(epoch).setActor("k").build();
    }

    private StepRef next() {
        number++;
        attempt = 1;
        operation = id("op");
        return ref();
    }

    StepRef ref() {
        return StepRef.newBuilder()
                .setSessionId(session)
                .setOperationId(operation)
                .setEpoch(epoch)
                .setNumber(number)
                .setAttempt(attempt)
                .build();
    }

    /** Starts under a new epoch; an empty snapshot means the template's start snapshot. */
    SandboxStarted start(String snapshot) {
        epoch++;
        return lifecycle()
                .startSandbox(
                        StartSandboxRequest.newBuilder()
                                .setRef(next())
                                .setTemplateDigest(template)
                                .setSize(size)
                                .setSnapshotId(snapshot)
                                .setHostname("box-" + session.substring(4, 10))
                                .setMaxProcesses(5)
                                .build());
    }

    SnapshotTaken pause(String snapshot) {
        return lifecycle().pauseSandbox(take(snapshot));
    }

    SnapshotTaken checkpoint(String snapshot) {
        return lifecycle().checkpointSandbox(take(snapshot));
    }

    /** Begins the operation that recovers: a new epoch, then the dead VM's disk. */
    SnapshotTaken preserve(String snapshot) {
        epoch++;
        SnapshotTaken taken = lifecycle().preserveDisk(take(snapshot));
        epoch--;
        return taken;
    }

    private TakeSnapshotRequest take(String snapshot) {
        return TakeSnapshotRequest.newBuilder().setRef(next()).setSnapshotId(snapshot).build();
    }

    void release() {
        epoch++;
        var _ =
                lifecycle()
                        .releaseSession(ReleaseSessionRequest.newBuilder().setRef(next()).build());
    }

    NodeInventory inventory() {
        return lifecycle().inspect(InspectRequest.newBuilder().setSessionId(session).build());
    }

    SandboxState state() {
        return lifecycle()
                .inspect(InspectRequest.newBuilder().setSessionId(session).build())
                .getSandboxes(0);
    }

    ExecReply exec(String command) {
        return data().exec(
                        ExecRequest.newBuilder()
                                .setTarget(target())
                                .setSpec(
                                        ProcessSpec.newBuilder()
                                                .setCommand(ByteString.copyFromUtf8(command)))
                                .build());
    }

    String run(String command) {
        ExecReply reply = exec(command);
        if (reply.getProcess().getExitCode() != 0) {
            throw new AssertionError(
                    String.format(
                            Locale.ROOT,
                            "%s: exit %d, %s",
                            command,
                            reply.getProcess().getExitCode(),
                            reply.getStderr().toStringUtf8()));
        }
        return reply.getStdout().toStringUtf8();
    }

    void background(String id, String command) {
        var _ =
                data().startProcess(
                                StartProcessRequest.newBuilder()
                                        .setTarget(target())
                                        .setProcessId(id)
                                        .setSpec(
                                                ProcessSpec.newBuilder()
                                                        .setCommand(
                                                                ByteString.copyFromUtf8(command)))
                                        .build());
    }

    /** What is there now of a process's output. */
    String output(String id) {
        Iterator<OutputChunk> chunks =
                data().readOutput(
                                ReadOutputRequest.newBuilder()
                                        .setTarget(target())
                                        .setProcessId(id)
                                        .setStream("stdout")
                                        .build());
        ByteString all = ByteString.EMPTY;
        while (chunks.hasNext()) {
            OutputChunk chunk = chunks.next();
            if (chunk.getOffset() != all.size() && !chunk.getData().isEmpty()) {
                throw new AssertionError("a gap at " + all.size());
            }
            all = all.concat(chunk.getData());
        }
        return all.toStringUtf8();
    }

    String session() {
        return session;
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
