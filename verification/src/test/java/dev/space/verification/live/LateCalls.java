package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.model.ErrorCode;
import dev.space.model.Ids;
import dev.space.nodeapi.NodeChannels;
import dev.space.nodeapi.NodeErrors;
import dev.space.nodeapi.v1.EndSandboxRequest;
import dev.space.nodeapi.v1.NodeLifecycleGrpc;
import dev.space.nodeapi.v1.NodeLifecycleGrpc.NodeLifecycleBlockingStub;
import dev.space.nodeapi.v1.StartSandboxRequest;
import dev.space.nodeapi.v1.StepRef;
import dev.space.nodeapi.v1.TakeSnapshotRequest;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.concurrent.TimeUnit;

/**
 * Sends to the node what a first attempt of an operation would have sent, long after the operation
 * has ended: the call that was stuck in a network. The node may answer what it made then, or that
 * the call is stale; it must not act.
 */
final class LateCalls implements AutoCloseable {

    private static final int CALL_SECONDS_MAX = 30;

    private final NodeChannels channels;
    private final NodeLifecycleBlockingStub node;

    private LateCalls(NodeChannels channels, NodeLifecycleBlockingStub node) {
        this.channels = channels;
        this.node = node;
    }

    static LateCalls to(Platform platform) throws IOException {
        Path token = platform.data().resolve("secrets/node-token-control");
        String secret = Files.readString(token).strip();
        NodeChannels channels = new NodeChannels(() -> secret);
        return new LateCalls(
                channels,
                NodeLifecycleGrpc.newBlockingStub(
                        channels.to("127.0.0.1:" + platform.port("node-api"))));
    }

    void send(JsonNode operation, String templateDigest) {
        StepRef ref =
                StepRef.newBuilder()
                        .setSessionId(operation.path("session").asText())
                        .setOperationId(operation.path("id").asText())
                        .setEpoch(operation.path("epoch").asLong(1))
                        .setNumber(operation.path("number").asLong())
                        .setAttempt(1)
                        .build();
        NodeLifecycleBlockingStub call = node.withDeadlineAfter(CALL_SECONDS_MAX, TimeUnit.SECONDS);
        try {
            switch (operation.path("kind").asText()) {
                case "CREATE", "RESUME" ->
                        call.startSandbox(
                                StartSandboxRequest.newBuilder()
                                        .setRef(ref)
                                        .setTemplateDigest(templateDigest)
                                        .setSize(Platform.SIZE)
                                        .build());
                case "PAUSE" ->
                        call.pauseSandbox(
                                TakeSnapshotRequest.newBuilder()
                                        .setRef(ref)
                                        .setSnapshotId(snapshotId())
                                        .build());
                case "DESTROY" ->
                        call.endSandbox(EndSandboxRequest.newBuilder().setRef(ref).build());
                default -> throw new AssertionError("no late call for " + operation);
            }
        } catch (StatusRuntimeException e) {
            assertThat(NodeErrors.toException(e, "it").code())
                    .as("answer to a late %s", operation)
                    .isIn(
                            ErrorCode.STALE_FENCE,
                            ErrorCode.GONE,
                            ErrorCode.NOT_FOUND,
                            ErrorCode.INVALID_ARGUMENT);
        }
    }

    private static String snapshotId() {
        byte[] random = new byte[Ids.RANDOM_BYTES];
        new SecureRandom().nextBytes(random);
        return Ids.text("snp", random);
    }

    @Override
    public void close() {
        channels.close();
    }
}
