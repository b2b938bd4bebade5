package dev.space.service.command;

import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.nodeapi.NodeChannels;
import dev.space.nodeapi.v1.NodeLifecycleGrpc;
import dev.space.nodeapi.v1.RemoveSnapshotsRequest;
import dev.space.store.NodeStore;
import dev.space.store.SnapshotRows;
import io.grpc.StatusRuntimeException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/**
 * Deletes a snapshot: from the list first, which is what counts, then from its node. A node that
 * cannot be reached is asked again by the reconciler.
 */
@Singleton
public class SnapshotRemoval {
    private static final int CALL_SECONDS_MAX = 2;
    private static final Logger LOG = Logger.getLogger(SnapshotRemoval.class);

    private final SnapshotRows rows;
    private final NodeStore nodes;
    private final NodeChannels channels;

    @Inject
    public SnapshotRemoval(SnapshotRows rows, NodeStore nodes, NodeChannels channels) {
        this.rows = rows;
        this.nodes = nodes;
        this.channels = channels;
    }

    /** Returns when it is listed no more. */
    public void delete(SessionId session, SnapshotId snapshot, String actor) {
        String node = rows.delete(session, snapshot, actor).node();
        String address = node == null ? null : nodes.address(node).orElse(null);
        if (node == null || address == null) {
            return;
        }
        try {
            var _ =
                    NodeLifecycleGrpc.newBlockingStub(channels.to(address))
                            .withDeadlineAfter(CALL_SECONDS_MAX, TimeUnit.SECONDS)
                            .removeSnapshots(request(session, List.of(snapshot)));
            rows.gone(session, node, List.of(snapshot));
        } catch (StatusRuntimeException later) {
            LOG.infof("node %s removes %s later: %s", node, snapshot, later.getStatus());
        }
    }

    /** What a node is asked to remove. */
    public static RemoveSnapshotsRequest request(SessionId session, List<SnapshotId> snapshots) {
        return RemoveSnapshotsRequest.newBuilder()
                .setSessionId(session.value())
                .addAllSnapshotIds(snapshots.stream().map(SnapshotId::value).toList())
                .build();
    }
}
