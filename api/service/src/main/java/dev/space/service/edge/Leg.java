package dev.space.service.edge;

import dev.space.model.SessionId;
import dev.space.nodeapi.v1.NodeDataPlaneGrpc;
import dev.space.nodeapi.v1.NodeDataPlaneGrpc.NodeDataPlaneBlockingV2Stub;
import dev.space.nodeapi.v1.Target;
import io.grpc.Channel;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * One call's way to a sandbox: the node's channel, the fenced target, the session's environment.
 */
public final class Leg {
    private final Channel channel;
    private final Target target;
    private final String node;
    private final Map<String, String> env;

    Leg(
            Channel channel,
            SessionId session,
            long epoch,
            String actor,
            String node,
            Map<String, String> env) {
        this.channel = channel;
        this.target =
                Target.newBuilder()
                        .setSessionId(session.value())
                        .setEpoch(epoch)
                        .setActor(actor)
                        .build();
        this.node = node;
        this.env = env;
    }

    /** A stub whose calls end after this time, whatever the node does. */
    public NodeDataPlaneBlockingV2Stub stub(Duration deadline) {
        return NodeDataPlaneGrpc.newBlockingV2Stub(channel)
                .withDeadlineAfter(deadline.toMillis(), TimeUnit.MILLISECONDS);
    }

    public Target target() {
        return target;
    }

    public String node() {
        return node;
    }

    /** The session's environment with the process's own on top. */
    public Map<String, String> merged(Map<String, String> own) {
        Map<String, String> all = new HashMap<>(env);
        all.putAll(own);
        return all;
    }
}
