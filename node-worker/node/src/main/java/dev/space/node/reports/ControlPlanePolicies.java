package dev.space.node.reports;

import dev.space.model.SessionId;
import dev.space.node.egress.NetworkPolicy;
import dev.space.node.egress.PolicySource;
import dev.space.nodeapi.v1.NetworkRequest;

/** Asks the control plane what a session that is on this node may reach. */
public final class ControlPlanePolicies implements PolicySource {

    private final ControlPlane control;
    private final String nodeId;

    public ControlPlanePolicies(ControlPlane control, String nodeId) {
        this.control = control;
        this.nodeId = nodeId;
    }

    @Override
    public NetworkPolicy of(SessionId session) {
        var answer =
                control.network(
                        NetworkRequest.newBuilder()
                                .setNodeId(nodeId)
                                .setSessionId(session.value())
                                .build());
        return new NetworkPolicy(answer.getVersion(), answer.getPolicy(), answer.getGrants());
    }
}
