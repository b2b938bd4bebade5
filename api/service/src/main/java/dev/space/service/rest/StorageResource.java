package dev.space.service.rest;

import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.nodeapi.NodeChannels;
import dev.space.nodeapi.NodeErrors;
import dev.space.nodeapi.v1.MeasureStorageRequest;
import dev.space.nodeapi.v1.NodeLifecycleGrpc;
import dev.space.nodeapi.v1.StorageUse;
import dev.space.service.auth.Caller;
import dev.space.store.NodeStore;
import io.grpc.StatusRuntimeException;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** What a session costs on its node's disk; the node measures it when it is asked. */
@Path("/v1/sessions/{id}/storage")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Records")
@RunOnVirtualThread
public class StorageResource {
    /** Many snapshots in many pieces take their time. */
    private static final long CALL_SECONDS_MAX = 30;

    private final Caller caller;
    private final Answers answers;
    private final NodeStore nodes;
    private final NodeChannels channels;

    @Inject
    public StorageResource(Caller caller, Answers answers, NodeStore nodes, NodeChannels channels) {
        this.caller = caller;
        this.answers = answers;
        this.nodes = nodes;
        this.channels = channels;
    }

    /**
     * Sandbox and snapshots of a session.
     *
     * @param exclusiveBytes what removing the session would free at least
     */
    @Schema(name = "Storage")
    public record StorageView(
            @Nullable String node, long bytes, long exclusiveBytes, List<Part> parts) {}

    /**
     * One of them.
     *
     * @param part {@code live}, or a snapshot's id
     * @param exclusiveBytes of the bytes, what is shared with nothing else
     */
    @Schema(name = "StoragePart")
    public record Part(String part, long bytes, long exclusiveBytes) {
        private static Part of(StorageUse use) {
            return new Part(use.getPart(), use.getBytes(), use.getExclusiveBytes());
        }
    }

    @GET
    @Operation(summary = "Bytes of a session on its node, and how many of them only it has")
    public StorageView storage(@PathParam("id") String id) {
        SessionId session = Requests.session(id);
        String node = answers.session(caller.project(), session).node();
        List<Part> parts = node == null ? List.of() : measured(node, session);
        return new StorageView(
                node,
                parts.stream().mapToLong(Part::bytes).sum(),
                parts.stream().mapToLong(Part::exclusiveBytes).sum(),
                parts);
    }

    private List<Part> measured(String node, SessionId session) {
        String address =
                nodes.address(node)
                        .orElseThrow(() ->
                                new SpaceException(
                                        ErrorCode.NODE_UNREACHABLE,
                                        "node " + node + " never registered"));
        try {
            return NodeLifecycleGrpc.newBlockingStub(channels.to(address))
                    .withDeadlineAfter(CALL_SECONDS_MAX, TimeUnit.SECONDS)
                    .measureStorage(
                            MeasureStorageRequest.newBuilder()
                                    .setSessionId(session.value())
                                    .build())
                    .getPartsList()
                    .stream()
                    .map(Part::of)
                    .toList();
        } catch (StatusRuntimeException failure) {
            throw NodeErrors.toException(failure, node);
        }
    }
}
