package dev.space.testkit;

import dev.space.contract.control.DirectNodeActivities;
import dev.space.contract.node.ReleaseSession;
import dev.space.contract.node.SandboxStarted;
import dev.space.contract.node.StartSandbox;
import dev.space.model.ErrorCode;
import io.temporal.failure.ApplicationFailure;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/** The nodes' own API as the control plane's process would call it. */
public final class FakeDirectNodes implements DirectNodeActivities {

    private final Map<String, FakeNode> nodes = new LinkedHashMap<>();

    public FakeDirectNodes(Collection<FakeNode> nodes) {
        nodes.forEach(n -> this.nodes.put(n.id(), n));
    }

    @Override
    public SandboxStarted startSandboxNow(String node, StartSandbox request) {
        return at(node).startSandbox(request);
    }

    @Override
    public void releaseSessionNow(String node, ReleaseSession request) {
        at(node).releaseSession(request);
    }

    private FakeNode at(String id) {
        FakeNode node = nodes.get(id);
        if (node == null) {
            throw ApplicationFailure.newFailure("no node " + id, ErrorCode.NODE_UNREACHABLE.name());
        }
        return node;
    }
}
