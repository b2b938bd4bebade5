package dev.space.service.repair;

import dev.space.model.Ids;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.nodeapi.v1.InspectRequest;
import dev.space.nodeapi.v1.NodeInventory;
import dev.space.nodeapi.v1.NodeLifecycleGrpc.NodeLifecycleBlockingStub;
import dev.space.nodeapi.v1.SandboxState;
import dev.space.nodeapi.v1.SnapshotTaken;
import dev.space.service.command.SnapshotRemoval;
import dev.space.service.node.NodeSnapshot;
import dev.space.store.SnapshotRows;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.logging.Logger;

/**
 * Makes the lists of snapshots true again after lost reports and unreachable nodes: a few sessions
 * of each node at every look, all of them in turn.
 */
@Singleton
public class SnapshotAudit {
    /** Sessions of one node that are compared at one look. */
    private static final int SESSIONS_MAX = 5;

    /** A row that is younger may be of a snapshot that the node made after it was asked. */
    private static final Duration YOUNG = Duration.ofMinutes(1);

    private static final Logger LOG = Logger.getLogger(SnapshotAudit.class);

    private final SnapshotRows rows;

    /** The session that was compared last, by node. */
    private final Map<String, String> reached = new ConcurrentHashMap<>();

    @Inject
    public SnapshotAudit(SnapshotRows rows) {
        this.rows = rows;
    }

    /**
     * Compares the sessions whose turn it is.
     *
     * @param sandboxes what the node has, in any order
     */
    void compare(String node, NodeLifecycleBlockingStub stub, List<SandboxState> sandboxes) {
        for (String session : turn(node, sandboxes)) {
            NodeInventory detail =
                    stub.inspect(InspectRequest.newBuilder().setSessionId(session).build());
            if (!detail.getHasSnapshots()) {
                return;
            }
            for (SandboxState state : detail.getSandboxesList()) {
                compare(node, stub, new SessionId(session), state.getSnapshotsList());
            }
        }
    }

    private List<String> turn(String node, List<SandboxState> sandboxes) {
        String after = reached.getOrDefault(node, "");
        List<String> sorted =
                sandboxes.stream()
                        .map(SandboxState::getSessionId)
                        .filter(id -> Ids.isValid(SessionId.PREFIX, id))
                        .sorted()
                        .toList();
        List<String> next =
                sorted.stream().filter(id -> id.compareTo(after) > 0).limit(SESSIONS_MAX).toList();
        reached.put(node, next.size() < SESSIONS_MAX ? "" : next.getLast());
        return next;
    }

    private void compare(
            String node,
            NodeLifecycleBlockingStub stub,
            SessionId session,
            List<SnapshotTaken> there) {
        Map<SnapshotId, SnapshotRows.Row> known = new HashMap<>();
        rows.on(session, node, YOUNG).forEach(row -> known.put(row.id(), row));
        List<SnapshotId> unwanted = new ArrayList<>();
        for (SnapshotTaken taken : there) {
            Optional<NodeSnapshot> snapshot = NodeSnapshot.of(taken, node);
            if (snapshot.isEmpty()) {
                continue;
            }
            SnapshotRows.Row row = known.remove(snapshot.get().row().id());
            if (row == null) {
                list(session, snapshot.get());
            } else if (!row.listed()) {
                unwanted.add(row.id());
            } else if (!row.marked()) {
                rows.mark(row.id(), snapshot.get().quiesced());
            }
        }
        forget(session, node, known.values().stream().toList());
        remove(node, stub, session, unwanted);
    }

    /** One that an operation made and nobody lists is that operation's affair. */
    private void list(SessionId session, NodeSnapshot snapshot) {
        if (snapshot.rolling() && rows.taken(session, snapshot.row(), snapshot.quiesced())) {
            LOG.infof("listing %s of %s: its report was lost", snapshot.row().id(), session);
        }
    }

    private void forget(SessionId session, String node, List<SnapshotRows.Row> missing) {
        List<SnapshotId> gone =
                missing.stream()
                        .filter(row -> row.listed() && row.old())
                        .map(SnapshotRows.Row::id)
                        .toList();
        if (!gone.isEmpty()) {
            LOG.warnf("node %s has %d snapshots of %s no more", node, gone.size(), session);
            rows.gone(session, node, gone);
        }
    }

    private void remove(
            String node,
            NodeLifecycleBlockingStub stub,
            SessionId session,
            List<SnapshotId> unwanted) {
        if (unwanted.isEmpty()) {
            return;
        }
        var _ = stub.removeSnapshots(SnapshotRemoval.request(session, unwanted));
        rows.gone(session, node, unwanted);
    }
}
