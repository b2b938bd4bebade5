package dev.space.node.reports;

import dev.space.durable.LineageKey;
import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.node.sandbox.ObjectStore;
import dev.space.nodeapi.NodeErrors;
import dev.space.nodeapi.v1.LineageKeyRequest;
import io.grpc.StatusRuntimeException;
import java.util.Arrays;

/** Asks the control plane for the key of a session that is on this node, each time anew. */
public final class ControlPlaneKeys implements ObjectStore.LineageKeys {

    private final ControlPlane control;
    private final String nodeId;

    public ControlPlaneKeys(ControlPlane control, String nodeId) {
        this.control = control;
        this.nodeId = nodeId;
    }

    @Override
    public LineageKey of(SessionId session) {
        byte[] key = bytes(session);
        try {
            return new LineageKey(key);
        } finally {
            Arrays.fill(key, (byte) 0);
        }
    }

    private byte[] bytes(SessionId session) {
        try {
            return control.lineageKey(
                            LineageKeyRequest.newBuilder()
                                    .setNodeId(nodeId)
                                    .setSessionId(session.value())
                                    .build())
                    .getKey()
                    .toByteArray();
        } catch (StatusRuntimeException e) {
            SpaceException known = NodeErrors.toException(e, nodeId);
            throw known.code() == ErrorCode.NODE_UNREACHABLE
                    ? new SpaceException(
                            ErrorCode.UNAVAILABLE, "the control plane does not give the key", e)
                    : known;
        }
    }
}
