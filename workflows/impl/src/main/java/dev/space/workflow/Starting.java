package dev.space.workflow;

import dev.space.contract.control.MoveAnswer;
import dev.space.contract.control.MoveOperation;
import dev.space.contract.node.DeleteSnapshot;
import dev.space.contract.node.EndSandbox;
import dev.space.contract.node.ReleaseSession;
import dev.space.contract.node.SandboxStarted;
import dev.space.contract.node.SnapshotTaken;
import dev.space.contract.node.StartSandbox;
import dev.space.contract.node.StepRef;
import dev.space.contract.session.DurableRef;
import dev.space.contract.session.SessionRecord;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.OperationKind;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.workflow.StepCalls.Tries;
import io.temporal.workflow.Workflow;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The step that starts a VM, and how it is taken back. Thaw is its point of no return. */
final class Starting {

    /** A node that refuses or does not answer a creation this often is left. */
    private static final Tries BEFORE_MOVING = new Tries(2, 2);

    /** A resume has only its own node: no answer is waited out. */
    private static final Tries ON_ITS_NODE = new Tries(3, Integer.MAX_VALUE);

    /** A fork's child has only the node of its source, but nothing to lose. */
    private static final Tries OF_A_CHILD = new Tries(3, 8);

    /** Nodes that one creation tries. */
    private static final int NODES_MAX = 3;

    /** After this a creation that no node takes has failed. */
    private static final Duration CREATION_MAX = Duration.ofMinutes(5);

    /** How long until a node that may not be left yet is tried again. */
    private static final Duration LEASE_CHECK = Duration.ofSeconds(2);

    private Starting() {}

    /** CREATE: from the template, on one node after another; of a fork's child where it must be. */
    static void create(OperationContext c) {
        if (c.inFlight().origin() == null) {
            anywhere(c, () -> start(c, null, BEFORE_MOVING));
        } else {
            fromOrigin(c);
        }
    }

    /** A fork's child continues from a snapshot of its source, on the node that has it. */
    private static void fromOrigin(OperationContext c) {
        SnapshotRef target = c.inFlight().target();
        if (target == null) {
            throw new StepFailure(
                    ErrorCode.SNAPSHOT_NOT_FOUND, "the snapshot to continue from is no more");
        }
        DurableRef stored = c.inFlight().stored();
        if (stored != null) {
            anywhere(c, () -> fromOriginOrStore(c, target, stored));
            return;
        }
        demandNode(c);
        start(c, target.id(), OF_A_CHILD);
    }

    private static void demandNode(OperationContext c) {
        if (c.record().node() == null) {
            throw c.operation.whyUnplaced();
        }
    }

    /** From the source's copy on this node, else from what the object store has. */
    private static void fromOriginOrStore(
            OperationContext c, SnapshotRef target, DurableRef stored) {
        if (target.node().equals(c.node())) {
            try {
                start(c, target.id(), BEFORE_MOVING);
                return;
            } catch (StepFailure e) {
                if (!e.isOfTheCopy()) {
                    throw e;
                }
                // The copy has made room for something else meanwhile, or is damaged.
            }
        }
        var _ = Durably.fetch(c, stored);
        start(c, target.id(), BEFORE_MOVING);
        dropFetched(c, target.id());
    }

    /**
     * The child stands on its disk, as any child does; what it began with is the source's, and no
     * row lists a copy of it here. Where it cannot be removed it goes with the session.
     */
    private static void dropFetched(OperationContext c, SnapshotId fetched) {
        String node = c.node();
        try {
            c.calls.end(
                    "drop the copy",
                    Tries.A_FEW,
                    (ref, _) -> {
                        Calls.ending(node).deleteSnapshot(new DeleteSnapshot(ref, fetched));
                        return null;
                    });
        } catch (StepFailure e) {
            return; // thawed: the creation has succeeded
        }
    }

    /** On one node after another: a start, with all that must be there before it. */
    static void anywhere(OperationContext c, Runnable work) {
        if (c.record().node() == null) {
            throw c.operation.whyUnplaced();
        }
        long until = Workflow.currentTimeMillis() + CREATION_MAX.toMillis();
        for (int nodes = 1; ; ) {
            try {
                work.run();
                return;
            } catch (StepFailure e) {
                boolean elsewhere = e.code().isRetryable() || e.code() == ErrorCode.NODE_LOST;
                if (!elsewhere || nodes >= NODES_MAX || Workflow.currentTimeMillis() >= until) {
                    throw e;
                }
                if (moved(c, e)) {
                    nodes++;
                }
            }
        }
    }

    /** RESUME: from the snapshot that the session stands on. */
    static void fromSnapshot(OperationContext c) {
        SessionRecord record = c.record();
        SnapshotRef newest = here(record, record.newest());
        if (newest == null) {
            throw new StepFailure(
                    ErrorCode.SNAPSHOT_NOT_FOUND, "no snapshot of the session is left");
        }
        start(c, newest.id(), ON_ITS_NODE);
    }

    /**
     * RECOVER: from the newest checkpoint of the present, which the node knows better than the
     * record: it makes checkpoints by itself, and its report of the last one may be on its way.
     * Else from the disk of the dead VM. Where the node was lost, from what is stored.
     */
    static void fromNewest(OperationContext c) {
        SessionRecord record = c.record();
        SnapshotRef newest = here(record, record.newest());
        SnapshotRef disk = here(record, record.preserved());
        if (newest == null && record.durable() != null) { // its node was lost
            Durably.restore(c);
            return;
        }
        if (record.node() == null) { // it was lost, and with it all that is written down
            throw new StepFailure(
                    ErrorCode.SNAPSHOT_NOT_FOUND, "no snapshot of the session is left");
        }
        try {
            startNewest(c, newest);
        } catch (StepFailure e) {
            if (e.code() == ErrorCode.NODE_LOST || disk == null || disk.equals(newest)) {
                throw e;
            }
            start(c, disk.id(), ON_ITS_NODE);
        }
    }

    /** What the node chose is listed by the commit, in case its report never comes. */
    private static void startNewest(OperationContext c, @Nullable SnapshotRef known) {
        SandboxStarted started = start(c, known == null ? null : known.id(), ON_ITS_NODE, true);
        SnapshotTaken source = started.source();
        if (source != null && (known == null || !source.snapshot().equals(known.id()))) {
            c.made.add(OperationSteps.listed(source, c.node()));
        }
    }

    /** ROLLBACK: from the snapshot that was asked for, and from no other. */
    static void fromTarget(OperationContext c) {
        demandNode(c);
        backTo(c, ON_ITS_NODE);
    }

    /** ROLLBACK of what is on no node: where the snapshot is, or anywhere if it is stored. */
    static void fromTargetAnywhere(OperationContext c) {
        if (c.inFlight().stored() == null) {
            fromTarget(c);
        } else {
            anywhere(c, () -> backTo(c, BEFORE_MOVING));
        }
    }

    private static void backTo(OperationContext c, Tries tries) {
        SnapshotRef target = c.inFlight().target();
        if (target == null) {
            throw new IllegalStateException("invariant: a rollback goes nowhere");
        }
        DurableRef stored = c.inFlight().stored();
        c.durable = stored;
        if (stored != null && !target.node().equals(c.node())) {
            fetched(c, target, stored);
        }
        try {
            start(c, target.id(), tries);
        } catch (StepFailure e) {
            if (!e.isOfTheCopy() || stored == null) {
                throw e;
            }
            fetched(c, target, stored); // the node's copy is gone or damaged
            start(c, target.id(), tries);
        }
    }

    private static void fetched(OperationContext c, SnapshotRef target, DurableRef stored) {
        c.made.removeIf(made -> made.id().equals(target.id())); // of a node that was left
        c.made.add(OperationSteps.listed(Durably.fetch(c, stored), c.node()));
    }

    /** From what was just published on the node; it is left for another where that fails. */
    static void startFrom(OperationContext c, SnapshotId source) {
        start(c, source, BEFORE_MOVING);
    }

    /** The rows still list what a lost node held; the session is on that node no more. */
    private static @Nullable SnapshotRef here(SessionRecord record, @Nullable SnapshotRef source) {
        return source != null && source.node().equals(record.node()) ? source : null;
    }

    /** Before this returned a lost node has nothing of the operation that could still start. */
    static void undoCreate(OperationContext c) {
        if (c.record().node() != null && !acknowledged(c, c.node())) {
            c.owed.add(c.node());
        }
    }

    /** The node must have acknowledged before the session is written as having no VM. */
    static void undoOnItsNode(OperationContext c) {
        if (c.record().node() == null || c.operation.nodeLost()) {
            return;
        }
        String node = c.node();
        try {
            c.calls.end(
                    "undo start",
                    Tries.UNTIL_DONE,
                    (ref, _) -> {
                        Calls.ending(node).endSandbox(new EndSandbox(ref, "start failed"));
                        return null;
                    });
        } catch (StepFailure e) {
            c.owed.add(node); // declared lost meanwhile: its VMs are vouched to be stopped
        }
    }

    private static void start(OperationContext c, @Nullable SnapshotId source, Tries tries) {
        SandboxStarted started = start(c, source, tries, false);
        if (source == null) {
            c.startMicros = started.phaseMicros();
        }
    }

    private static SandboxStarted start(
            OperationContext c, @Nullable SnapshotId source, Tries tries, boolean newest) {
        String node = c.node();
        SandboxStarted started =
                c.calls.node(
                        "start",
                        tries,
                        (ref, n) -> attempt(c, node, request(c, source, newest, ref), n));
        Fence fence = c.fence();
        c.vmIs(new Fence(fence.epoch(), fence.number(), started.attempt()));
        return started;
    }

    private static StartSandbox request(
            OperationContext c, @Nullable SnapshotId source, boolean newest, StepRef ref) {
        return new StartSandbox(
                ref,
                c.session.templateDigest(),
                c.session.size(),
                source,
                c.inFlight().origin(),
                hostname(c.session.session()),
                c.session.maxProcesses(),
                newest);
    }

    /** The first attempt of what is on the hot path goes straight to the node. */
    private static SandboxStarted attempt(
            OperationContext c, String node, StartSandbox request, int tryNumber) {
        boolean hot =
                c.operation.kind == OperationKind.CREATE
                        || c.operation.kind == OperationKind.RESUME;
        return tryNumber == 1 && hot
                ? Calls.direct().startSandboxNow(node, request)
                : Calls.starting(node).startSandbox(request);
    }

    /** Short, valid everywhere, and tells sessions apart. */
    private static String hostname(SessionId session) {
        return session.value().replace('_', '-').substring(0, 16);
    }

    /** Leaves the node for another under a new epoch; false when it may not be left yet. */
    private static boolean moved(OperationContext c, StepFailure why) {
        String from = c.node();
        boolean newborn = c.operation.kind == OperationKind.CREATE;
        boolean acknowledged = newborn ? acknowledged(c, from) : Durably.acknowledged(c, from);
        if (!acknowledged) {
            c.owed.add(from);
        }
        MoveOperation request =
                new MoveOperation(
                        c.session.session(),
                        c.operation.request.operation(),
                        c.fence(),
                        from,
                        acknowledged);
        MoveAnswer answer = StepCalls.database(() -> Calls.control().moveOperation(request));
        String next = answer.node();
        if (answer.moved() && next != null) {
            c.moveTo(next, answer.epoch());
            return true;
        }
        ErrorCode error = answer.error();
        if (error == ErrorCode.NODE_UNREACHABLE && !c.operation.nodeLost()) {
            c.owed.remove(from);
            Workflow.sleep(LEASE_CHECK);
            return false;
        }
        if (error == ErrorCode.STALE_FENCE || error == ErrorCode.GONE) {
            throw new Overtaken(null);
        }
        throw why;
    }

    private static boolean acknowledged(OperationContext c, String node) {
        try {
            c.calls.end(
                    "undo start",
                    Tries.A_FEW,
                    (ref, n) -> {
                        release(node, ref, n);
                        return null;
                    });
            return true;
        } catch (StepFailure e) {
            return false;
        }
    }

    /** Removes everything of the session from a node: directly first, then by its queue. */
    static void release(String node, StepRef ref, int tryNumber) {
        ReleaseSession request = new ReleaseSession(ref);
        if (tryNumber == 1) {
            Calls.direct().releaseSessionNow(node, request);
        } else {
            Calls.ending(node).releaseSession(request);
        }
    }
}
