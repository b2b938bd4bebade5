package dev.space.workflow;

import dev.space.contract.node.HoldSnapshot;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.ErrorCode;
import dev.space.model.OperationKind;
import dev.space.workflow.StepCalls.Tries;
import io.temporal.workflow.Workflow;

/**
 * The first step of what starts from a snapshot that was asked for. The node thins snapshots by
 * itself, so that the target is held there before anything is changed: one that went after the
 * acceptance, or is damaged, leaves the session as it was.
 */
final class Holding {

    /** Histories from before it replay without it. */
    private static final String CHANGE = "hold-target";

    /** A rollback has only its own node. */
    private static final Tries OF_A_ROLLBACK = new Tries(3, Integer.MAX_VALUE);

    /** A fork keeps its source waiting for it. */
    private static final Tries OF_A_FORK = new Tries(3, 2);

    private Holding() {}

    /** What is stored need not be held: it is fetched where the copy is gone. */
    static void target(OperationContext c) {
        SnapshotRef target = c.inFlight().target();
        boolean fork = c.operation.kind == OperationKind.FORK;
        if (target == null || c.inFlight().stored() != null) {
            return;
        }
        if (!fork && c.record().node() == null) {
            return; // the start tells why it has no place
        }
        int version = Workflow.getVersion(CHANGE, Workflow.DEFAULT_VERSION, 1);
        if (version == Workflow.DEFAULT_VERSION) {
            return;
        }
        if (fork) {
            ofAFork(c, target);
        } else {
            hold(c, c.node(), target, OF_A_ROLLBACK);
        }
    }

    /** A node that is away thins nothing, and each child tells of it as it always did. */
    private static void ofAFork(OperationContext c, SnapshotRef target) {
        try {
            hold(c, target.node(), target, OF_A_FORK);
        } catch (StepFailure e) {
            if (e.code() != ErrorCode.NODE_UNREACHABLE && e.code() != ErrorCode.NODE_LOST) {
                throw e;
            }
        }
    }

    private static void hold(OperationContext c, String node, SnapshotRef target, Tries tries) {
        var _ =
                c.calls.node(
                        "hold the target",
                        tries,
                        (ref, _) -> {
                            Calls.ending(node).holdSnapshot(new HoldSnapshot(ref, target.id()));
                            return node;
                        });
    }
}
