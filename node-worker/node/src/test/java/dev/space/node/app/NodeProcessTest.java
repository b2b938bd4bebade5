package dev.space.node.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import dev.space.model.Ids;
import dev.space.node.config.ConfigLoader;
import dev.space.node.templates.FakeTemplates;
import dev.space.nodeapi.v1.ExecReply;
import dev.space.nodeapi.v1.ExecRequest;
import dev.space.nodeapi.v1.FileChunk;
import dev.space.nodeapi.v1.FileInfo;
import dev.space.nodeapi.v1.FileRequest;
import dev.space.nodeapi.v1.InspectRequest;
import dev.space.nodeapi.v1.NodeDataPlaneGrpc;
import dev.space.nodeapi.v1.NodeLifecycleGrpc;
import dev.space.nodeapi.v1.OutputChunk;
import dev.space.nodeapi.v1.ProcessSpec;
import dev.space.nodeapi.v1.ReadFileRequest;
import dev.space.nodeapi.v1.ReadOutputRequest;
import dev.space.nodeapi.v1.StartProcessRequest;
import dev.space.nodeapi.v1.StartSandboxRequest;
import dev.space.nodeapi.v1.StepRef;
import dev.space.nodeapi.v1.Target;
import dev.space.nodeapi.v1.WriteFileRequest;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole process with the fake engine, over its real ports. */
final class NodeProcessTest {

    private static final String SESSION = Ids.text("ses", new byte[16]);

    @TempDir Path directory;
    private NodeProcess process;
    private ManagedChannel channel;

    @BeforeEach
    void start() throws Exception {
        Files.writeString(directory.resolve("token"), "secret\n");
        Path config = directory.resolve("node.properties");
        Files.writeString(
                config,
                """
                space.node.id=test
                space.node.token-file=%1$s/token
                space.node.api-port=0
                space.node.http-port=0
                space.node.data-dir=%1$s/data
                space.node.state-dir=%1$s/state
                space.node.cache-dir=%1$s/cache
                space.node.engine=fake
                space.node.disk-reserve-mib=1
                """
                        .formatted(directory));
        process = new NodeProcess(ConfigLoader.load(config));
        channel =
                NettyChannelBuilder.forAddress("127.0.0.1", process.apiPort())
                        .usePlaintext()
                        .build();
    }

    @AfterEach
    void stop() {
        channel.shutdownNow();
        process.close();
    }

    private static ClientInterceptor token(String token) {
        Metadata headers = new Metadata();
        headers.put(
                Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER),
                "Bearer " + token);
        return MetadataUtils.newAttachHeadersInterceptor(headers);
    }

    private NodeLifecycleGrpc.NodeLifecycleBlockingStub lifecycle() {
        return NodeLifecycleGrpc.newBlockingStub(channel)
                .withInterceptors(token("secret"))
                .withDeadlineAfter(20, TimeUnit.SECONDS);
    }

    private NodeDataPlaneGrpc.NodeDataPlaneBlockingStub data() {
        return NodeDataPlaneGrpc.newBlockingStub(channel)
                .withInterceptors(token("secret"))
                .withDeadlineAfter(20, TimeUnit.SECONDS);
    }

    private static Target target(long epoch) {
        return Target.newBuilder().setSessionId(SESSION).setEpoch(epoch).setActor("key").build();
    }

    private void startSandbox() {
        var _ =
                lifecycle()
                        .startSandbox(
                                StartSandboxRequest.newBuilder()
                                        .setRef(
                                                StepRef.newBuilder()
                                                        .setSessionId(SESSION)
                                                        .setOperationId(
                                                                Ids.text("op", new byte[16]))
                                                        .setEpoch(1)
                                                        .setNumber(1)
                                                        .setAttempt(1))
                                        .setTemplateDigest(FakeTemplates.DEFAULT_DIGEST)
                                        .setSize("small")
                                        .setHostname("box")
                                        .setMaxProcesses(5)
                                        .build());
    }

    private ExecReply exec(String command, String stdin) {
        return data().exec(
                        ExecRequest.newBuilder()
                                .setTarget(target(1))
                                .setSpec(
                                        ProcessSpec.newBuilder()
                                                .setCommand(ByteString.copyFromUtf8(command)))
                                .setStdin(ByteString.copyFromUtf8(stdin))
                                .build());
    }

    private static void assertCode(StatusRuntimeException e, String code) {
        Metadata trailers = Objects.requireNonNull(e.getTrailers());
        assertThat(
                        trailers.get(
                                Metadata.Key.of(
                                        "space-error-code", Metadata.ASCII_STRING_MARSHALLER)))
                .isEqualTo(code);
    }

    @Test
    void execAnswersWithOutputAndExitCode() {
        startSandbox();
        assertThat(exec("echo hello", "").getStdout().toStringUtf8()).isEqualTo("hello\n");
        assertThat(exec("cat", "typed").getStdout().toStringUtf8()).isEqualTo("typed");
        assertThat(exec("exit 3", "").getProcess().getExitCode()).isEqualTo(3);
        ExecReply missing = exec("nothing-of-that-name", "");
        assertThat(missing.getProcess().getExitCode()).isEqualTo(127);
        assertThat(missing.getProcess().getReason()).isEqualTo("NOT_FOUND");
        ExecReply failed = exec("cat absent", "");
        assertThat(failed.getStderr().toStringUtf8()).contains("No such file");
    }

    @Test
    void outputIsFollowedToItsEnd() {
        startSandbox();
        var _ =
                data().startProcess(
                                StartProcessRequest.newBuilder()
                                        .setTarget(target(1))
                                        .setProcessId("c")
                                        .setSpec(
                                                ProcessSpec.newBuilder()
                                                        .addArgv(ByteString.copyFromUtf8("counter"))
                                                        .addArgv(ByteString.copyFromUtf8("100")))
                                        .build());
        Iterator<OutputChunk> chunks =
                data().readOutput(
                                ReadOutputRequest.newBuilder()
                                        .setTarget(target(1))
                                        .setProcessId("c")
                                        .setStream("stdout")
                                        .setFollow(true)
                                        .build());
        ByteString all = ByteString.EMPTY;
        boolean end = false;
        while (chunks.hasNext()) {
            OutputChunk chunk = chunks.next();
            assertThat(chunk.getOffset()).isEqualTo(all.size());
            all = all.concat(chunk.getData());
            end = chunk.getEnd();
        }
        assertThat(end).isTrue();
        assertThat(all.toStringUtf8()).startsWith("1\n2\n").endsWith("\n100\n");
    }

    @Test
    void filesAreWrittenWholeAndReadByRange() throws Exception {
        startSandbox();
        FileRequest file =
                FileRequest.newBuilder()
                        .setTarget(target(1))
                        .setPath(ByteString.copyFromUtf8("deep/er/file"))
                        .build();
        CompletableFuture<FileInfo> written = new CompletableFuture<>();
        StreamObserver<WriteFileRequest> upload =
                NodeDataPlaneGrpc.newStub(channel)
                        .withInterceptors(token("secret"))
                        .writeFile(new Answer<>(written));
        upload.onNext(
                WriteFileRequest.newBuilder()
                        .setHeader(
                                WriteFileRequest.Header.newBuilder()
                                        .setFile(file)
                                        .setMakeParents(true))
                        .build());
        for (int i = 0; i < 100; i++) {
            upload.onNext(
                    WriteFileRequest.newBuilder()
                            .setData(ByteString.copyFrom(new byte[1000]))
                            .build());
        }
        upload.onCompleted();
        assertThat(written.get(20, TimeUnit.SECONDS).getSize()).isEqualTo(100_000);
        Iterator<FileChunk> chunks =
                data().readFile(
                                ReadFileRequest.newBuilder()
                                        .setFile(file)
                                        .setOffset(90_000)
                                        .setLength(-1)
                                        .build());
        assertThat(chunks.next().getInfo().getSize()).isEqualTo(100_000);
        long bytes = 0;
        while (chunks.hasNext()) {
            bytes += chunks.next().getData().size();
        }
        assertThat(bytes).isEqualTo(10_000);
    }

    private record Answer<T>(CompletableFuture<T> to) implements StreamObserver<T> {
        @Override
        public void onNext(T value) {
            to.complete(value);
        }

        @Override
        public void onError(Throwable t) {
            to.completeExceptionally(t);
        }

        @Override
        public void onCompleted() {}
    }

    @Test
    void refusesAWrongTokenAndAnOldEpoch() {
        startSandbox();
        assertThatThrownBy(() ->
                        NodeLifecycleGrpc.newBlockingStub(channel)
                                .withInterceptors(token("wrong"))
                                .inspect(InspectRequest.getDefaultInstance()))
                .isInstanceOfSatisfying(
                        StatusRuntimeException.class, e -> assertCode(e, "UNAUTHENTICATED"));
        assertThatThrownBy(() ->
                        data().statFile(
                                        FileRequest.newBuilder()
                                                .setTarget(target(2))
                                                .setPath(ByteString.copyFromUtf8("/"))
                                                .build()))
                .isInstanceOfSatisfying(
                        StatusRuntimeException.class, e -> assertCode(e, "STALE_FENCE"));
    }

    @Test
    void healthAndMetricsAreServed() throws Exception {
        startSandbox();
        try (HttpClient client = HttpClient.newHttpClient()) {
            for (String path : new String[] {"/health/live", "/health/ready", "/metrics"}) {
                HttpResponse<String> answer =
                        client.send(
                                HttpRequest.newBuilder(
                                                URI.create(
                                                        "http://127.0.0.1:"
                                                                + process.httpPort()
                                                                + path))
                                        .build(),
                                HttpResponse.BodyHandlers.ofString());
                assertThat(answer.statusCode()).isEqualTo(200);
                assertThat(answer.body()).doesNotContain("secret");
            }
        }
        assertThat(lifecycle().inspect(InspectRequest.getDefaultInstance()).getSandboxesList())
                .singleElement()
                .satisfies(s -> assertThat(s.getState()).isEqualTo("RUNNING"));
    }
}
