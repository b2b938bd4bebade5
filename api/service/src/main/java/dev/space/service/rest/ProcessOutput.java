package dev.space.service.rest;

import dev.space.model.SessionId;
import dev.space.nodeapi.NodeErrors;
import dev.space.nodeapi.v1.OutputChunk;
import dev.space.nodeapi.v1.ReadOutputRequest;
import dev.space.service.edge.Edge;
import io.grpc.StatusException;
import io.grpc.stub.BlockingClientCall;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.StreamingOutput;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Streams a process's output. One chunk is in memory at a time: the next is asked for when the
 * client has taken the last, so that a slow reader slows the node's sending and nothing else.
 */
@Singleton
public class ProcessOutput {
    /** Where the first byte of the answer lies in the process's output. */
    static final String OFFSET_HEADER = "Space-Output-Offset";

    /** What the next request names, so that it is told when the session went back meanwhile. */
    static final String LIFE_HEADER = "Space-Output-Life";

    /** Longest that one answer follows a process; the client goes on at the next offset. */
    private static final Duration FOLLOW_MAX = Duration.ofHours(6);

    private final Edge edge;

    @Inject
    public ProcessOutput(Edge edge) {
        this.edge = edge;
    }

    private record Opened(
            BlockingClientCall<?, OutputChunk> call, @Nullable OutputChunk first, String node) {}

    Response open(
            String project,
            String actor,
            SessionId session,
            String process,
            String stream,
            long offset,
            String life,
            boolean follow) {
        Opened opened =
                edge.call(
                        project,
                        actor,
                        session,
                        leg -> {
                            BlockingClientCall<?, OutputChunk> call =
                                    leg.stub(follow ? FOLLOW_MAX : ProcessesResource.CALL)
                                            .readOutput(
                                                    ReadOutputRequest.newBuilder()
                                                            .setTarget(leg.target())
                                                            .setProcessId(process)
                                                            .setStream(stream)
                                                            .setOffset(offset)
                                                            .setLife(life)
                                                            .setFollow(follow)
                                                            .build());
                            return new Opened(call, call.read(), leg.node());
                        });
        long begins = opened.first() == null ? offset : opened.first().getOffset();
        StreamingOutput body = out -> copy(opened, out);
        Response.ResponseBuilder answer =
                Response.ok(body, MediaType.APPLICATION_OCTET_STREAM_TYPE)
                        .header(OFFSET_HEADER, begins);
        if (opened.first() != null && !opened.first().getLife().isEmpty()) {
            answer.header(LIFE_HEADER, opened.first().getLife());
        }
        return answer.build();
    }

    private static void copy(Opened opened, OutputStream out) throws IOException {
        try {
            OutputChunk chunk = opened.first();
            long next = chunk == null ? 0 : chunk.getOffset();
            // A jump means that the oldest was dropped: the answer ends before it, and whoever
            // reads on learns the new offset from the next answer's header.
            while (chunk != null && chunk.getOffset() == next) {
                chunk.getData().writeTo(out);
                out.flush();
                next += chunk.getData().size();
                if (chunk.getEnd()) {
                    return;
                }
                chunk = opened.call().read();
            }
        } catch (StatusException failure) {
            throw NodeErrors.toException(failure, opened.node());
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        } finally {
            opened.call().cancel("the answer is over", null);
        }
    }
}
