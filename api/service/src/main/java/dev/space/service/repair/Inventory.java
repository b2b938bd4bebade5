package dev.space.service.repair;

import dev.space.model.Ids;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.nodeapi.NodeChannels;
import dev.space.nodeapi.v1.EndSandboxRequest;
import dev.space.nodeapi.v1.InspectRequest;
import dev.space.nodeapi.v1.NodeInventory;
import dev.space.nodeapi.v1.NodeLifecycleGrpc;
import dev.space.nodeapi.v1.NodeLifecycleGrpc.NodeLifecycleBlockingStub;
import dev.space.nodeapi.v1.ReleaseSessionRequest;
import dev.space.nodeapi.v1.SandboxState;
import dev.space.nodeapi.v1.StepRef;
import dev.space.store.NodeStore;
import dev.space.store.RepairStore;
import dev.space.store.RepairStore.Owed;
import dev.space.store.RepairStore.RunningVm;
import dev.space.store.SessionRow;
import io.grpc.StatusRuntimeException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/** What nodes have against what the rows say, and clean-ups that nodes still owe. */
@Singleton
public class Inventory {
    private static final int CALL_SECONDS_MAX = 20;

    /** Sandboxes whose rows are read at once. */
    private static final int PAGE = 500;

    private static final Logger LOG = Logger.getLogger(Inventory.class);

    private final RepairStore rows;
    private final NodeStore nodes;
    private final NodeChannels channels;
    private final MissingVms missing;
    private final SnapshotAudit snapshots;
    private final CachedCopies copies;

    @Inject
    public Inventory(
            RepairStore rows,
            NodeStore nodes,
            NodeChannels channels,
            MissingVms missing,
            SnapshotAudit snapshots,
            CachedCopies copies) {
        this.missing = missing;
        this.snapshots = snapshots;
        this.copies = copies;
        this.rows = rows;
        this.nodes = nodes;
        this.channels = channels;
    }

    /** Pays what is due; what fails is put off by the claim already. */
    void payOwed(int max) {
        for (Owed owed : rows.claimOwed(max)) {
            try {
                Optional<NodeLifecycleBlockingStub> node = stub(owed.node());
                if (node.isEmpty()) {
                    continue;
                }
                pay(node.get(), owed);
                rows.paid(owed.session(), owed.node());
                LOG.infof("node %s paid its clean-up of %s", owed.node(), owed.session());
            } catch (StatusRuntimeException unreachable) {
                LOG.debugf("node %s still owes: %s", owed.node(), unreachable.getStatus());
            }
        }
    }

    /** A node that was left lists snapshots that nobody else has; a session that is over none. */
    private static void pay(NodeLifecycleBlockingStub node, Owed owed) {
        StepRef ref =
                StepRef.newBuilder()
                        .setSessionId(owed.session().value())
                        .setOperationId(owed.operation().value())
                        .setEpoch(owed.fence().epoch())
                        .setNumber(owed.fence().number())
                        .setAttempt(owed.fence().attempt())
                        .build();
        if (owed.keepsSnapshots()) {
            var _ =
                    node.endSandbox(
                            EndSandboxRequest.newBuilder()
                                    .setRef(ref)
                                    .setReason("the node was left")
                                    .build());
        } else {
            var _ = node.releaseSession(ReleaseSessionRequest.newBuilder().setRef(ref).build());
        }
    }

    /** Each node's list is read before the rows, so that a newer epoch is never taken for old. */
    void compare() {
        for (String node : rows.nodesAlive()) {
            try {
                Optional<NodeLifecycleBlockingStub> stub = stub(node);
                if (stub.isPresent()) {
                    compare(node, stub.get());
                }
            } catch (StatusRuntimeException unreachable) {
                LOG.debugf("node %s cannot be inspected: %s", node, unreachable.getStatus());
            }
        }
    }

    private void compare(String node, NodeLifecycleBlockingStub stub) {
        List<RunningVm> expected = missing.expected(node);
        NodeInventory list = stub.inspect(InspectRequest.getDefaultInstance());
        missing.compare(node, expected, list);
        rows.seen(
                node,
                list.getSandboxesList().stream()
                        .filter(sandbox -> sandbox.getRunningEpoch() > 0)
                        .filter(sandbox -> Ids.isValid(SessionId.PREFIX, sandbox.getSessionId()))
                        .map(sandbox ->
                                new RepairStore.SeenVm(
                                        new SessionId(sandbox.getSessionId()),
                                        sandbox.getRunningEpoch()))
                        .toList());
        List<SandboxState> sandboxes =
                list.getSandboxesList().stream()
                        .filter(sandbox -> Ids.isValid(SessionId.PREFIX, sandbox.getSessionId()))
                        .toList();
        for (int from = 0; from < sandboxes.size(); from += PAGE) {
            compare(node, stub, sandboxes.subList(from, Math.min(from + PAGE, sandboxes.size())));
        }
        snapshots.compare(node, stub, sandboxes);
        copies.makeRoom(node, stub, list.getDiskFreeBytes());
    }

    private void compare(
            String node, NodeLifecycleBlockingStub stub, List<SandboxState> sandboxes) {
        Map<SessionId, SessionRow> known = new HashMap<>();
        rows.sessions(sandboxes.stream().map(s -> new SessionId(s.getSessionId())).toList())
                .forEach(row -> known.put(row.id(), row));
        for (SandboxState sandbox : sandboxes) {
            SessionId id = new SessionId(sandbox.getSessionId());
            SessionRow row = known.get(id);
            if (row == null) {
                LOG.warnf("node %s has session %s, which has no row; left alone", node, id);
            } else if (row.state() == SessionState.DESTROYED) {
                rows.owe(id, node, "found after destroy");
            } else if (sandbox.getRunningEpoch() > 0 && sandbox.getRunningEpoch() < row.epoch()) {
                end(node, stub, row);
            }
        }
    }

    /** A VM of an epoch that is over (rule 9). Its fence is the row's, so a newer start stands. */
    private void end(String node, NodeLifecycleBlockingStub stub, SessionRow row) {
        if (row.epochOperation() == null) {
            return;
        }
        LOG.warnf("node %s runs an old epoch of %s; ending it", node, row.id());
        var _ =
                stub.endSandbox(
                        EndSandboxRequest.newBuilder()
                                .setRef(
                                        StepRef.newBuilder()
                                                .setSessionId(row.id().value())
                                                .setOperationId(row.epochOperation())
                                                .setEpoch(row.epoch())
                                                .setNumber(0)
                                                .setAttempt(0))
                                .setReason("an epoch that is over")
                                .build());
    }

    private Optional<NodeLifecycleBlockingStub> stub(String node) {
        return nodes.address(node)
                .map(address ->
                        NodeLifecycleGrpc.newBlockingStub(channels.to(address))
                                .withDeadlineAfter(CALL_SECONDS_MAX, TimeUnit.SECONDS));
    }
}
