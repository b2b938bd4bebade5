package dev.space.service.node;

import dev.space.model.SessionId;
import dev.space.nodeapi.NodeChannels;
import dev.space.nodeapi.v1.NetworkPolicy;
import dev.space.nodeapi.v1.NodeLifecycleGrpc;
import dev.space.nodeapi.v1.SetEgressRequest;
import dev.space.store.NetworkRows;
import dev.space.store.NodeStore;
import io.grpc.StatusRuntimeException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Tells a session's node at once what it may reach; what is not told it asks for itself. */
@Singleton
public class NetworkPush {
    private static final Logger LOG = Logger.getLogger(NetworkPush.class);
    private static final long PUSH_SECONDS_MAX = 5;

    private final NetworkRows rows;
    private final NodeStore nodes;
    private final NodeChannels channels;

    @Inject
    public NetworkPush(NetworkRows rows, NodeStore nodes, NodeChannels channels) {
        this.rows = rows;
        this.nodes = nodes;
        this.channels = channels;
    }

    /** Whether the node has it; null where no sandbox runs. */
    public @Nullable Boolean push(String project, SessionId session) {
        return push(session, rows.placed(project, session));
    }

    /** The same, of what was read already. */
    public @Nullable Boolean push(SessionId session, NetworkRows.Placed placed) {
        String node = placed.node();
        if (!placed.running() || node == null) {
            return null;
        }
        String address = nodes.address(node).orElse(null);
        return address != null && told(session, placed, node, address);
    }

    private boolean told(
            SessionId session, NetworkRows.Placed placed, String node, String address) {
        try {
            var _ =
                    NodeLifecycleGrpc.newBlockingStub(channels.to(address))
                            .withDeadlineAfter(PUSH_SECONDS_MAX, TimeUnit.SECONDS)
                            .setEgress(
                                    SetEgressRequest.newBuilder()
                                            .setSessionId(session.value())
                                            .setEpoch(placed.epoch())
                                            .setNetwork(message(placed.network()))
                                            .build());
            return true;
        } catch (StatusRuntimeException e) {
            LOG.infof("node %s was not told the network of %s: %s", node, session, e.getStatus());
            return false;
        }
    }

    static NetworkPolicy message(NetworkRows.Network network) {
        NetworkPolicy.Builder message =
                NetworkPolicy.newBuilder()
                        .setVersion(network.version())
                        .setGrants(network.grants());
        String policy = network.policy();
        return policy == null ? message.build() : message.setPolicy(policy).build();
    }
}
