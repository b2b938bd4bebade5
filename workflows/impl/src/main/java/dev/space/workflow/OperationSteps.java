package dev.space.workflow;

import dev.space.contract.control.CommitAnswer;
import dev.space.contract.control.RecordSnapshots;
import dev.space.contract.node.DeleteSnapshot;
import dev.space.contract.node.PreserveDisk;
import dev.space.contract.node.SnapshotTaken;
import dev.space.contract.node.TakeSnapshot;
import dev.space.contract.session.InFlight;
import dev.space.contract.session.SessionRecord;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.ErrorCode;
import dev.space.model.OperationKind;
import dev.space.model.SessionState;
import dev.space.workflow.StepCalls.Tries;
import java.time.Duration;
import java.util.List;

/**
 * What each operation does, as a declared list. Each step is repeatable and says how it is undone,
 * or why it is not. The commit, which every list ends with, is in {@link Commits}.
 */
final class OperationSteps {

    /** The disk of a dead VM holds work that no checkpoint has: retention leaves it that long. */
    static final Duration PRESERVED_PIN = Duration.ofHours(24);

    private static final Step START_NEW =
            new Step(
                    "start",
                    Starting::create,
                    new Undo.By("release the node", Starting::undoCreate));
    private static final Step START_FROM_SNAPSHOT =
            new Step(
                    "start",
                    Starting::fromSnapshot,
                    new Undo.By("end the VM", Starting::undoOnItsNode));
    private static final Step START_FROM_NEWEST =
            new Step(
                    "start",
                    Starting::fromNewest,
                    new Undo.By("end the VM", Starting::undoOnItsNode));
    private static final Step PUBLISH =
            new Step(
                    "pause",
                    OperationSteps::pause,
                    new Undo.None(
                            "before publish the node thaws by itself, after it that VM is over"));
    private static final Step SAFETY =
            new Step(
                    "safety snapshot",
                    Rollback::safety,
                    new Undo.None(
                            "before publish the node thaws by itself, after it that VM is over"));
    private static final Step NEED_SAFETY =
            new Step(
                    "look for safety",
                    Rollback::needSafety,
                    new Undo.None("it only looks at what is there"));
    private static final Step START_FROM_TARGET =
            new Step(
                    "start",
                    Starting::fromTarget,
                    new Undo.By("end the VM", Starting::undoOnItsNode));
    private static final Step START_FROM_TARGET_ANYWHERE =
            new Step(
                    "start",
                    Starting::fromTargetAnywhere,
                    new Undo.By("fence", Durably::undoRestore));
    private static final Step TAKE =
            new Step(
                    "checkpoint",
                    OperationSteps::checkpoint,
                    new Undo.By("delete the snapshot", OperationSteps::deleteSnapshot));
    private static final Step PRESERVE =
            new Step(
                    "preserve disk",
                    OperationSteps::preserve,
                    new Undo.None("a dead VM's disk is what a failed recovery must leave"));
    private static final Step LIST =
            new Step(
                    "list disk",
                    OperationSteps::listPreserved,
                    new Undo.None("the snapshot stays, and so does its row"));
    private static final Step GIVE_UP =
            new Step("give up", OperationSteps::giveUp, new Undo.None("it does nothing but fail"));
    private static final Step PAUSE_FIRST =
            new Step(
                    "pause",
                    Durably::pause,
                    new Undo.None(
                            "before publish the node thaws by itself, after it that VM is over"));
    private static final Step BEGIN_UPLOAD =
            new Step(
                    "begin upload",
                    Durably::register,
                    new Undo.None("the end of the operation makes its row garbage"));
    private static final Step UPLOAD =
            new Step("upload", Durably::upload, new Undo.By("fence", Durably::undoUpload));
    private static final Step STORE =
            new Step("upload", Durably::upload, new Undo.By("fence", Durably::undoStore));
    private static final Step FIND_STORED =
            new Step(
                    "find what is stored",
                    Durably::alreadyStored,
                    new Undo.None("it only looks at what is there"));
    private static final Step RESTORE =
            new Step("restore", Durably::restore, new Undo.By("fence", Durably::undoRestore));
    private static final Step RELEASE =
            new Step(
                    "release nodes",
                    OperationSteps::releaseNodes,
                    new Undo.None("DESTROY is never taken back"));

    private OperationSteps() {}

    /**
     * The steps before the commit.
     *
     * @param asked what the operation's row says of it
     */
    static List<Step> of(
            OperationKind kind, SessionRecord record, boolean givesUp, InFlight asked) {
        SessionState from = record.state();
        return switch (kind) {
            case CREATE -> List.of(START_NEW);
            case PAUSE -> List.of(PUBLISH);
            case RESUME -> List.of(START_FROM_SNAPSHOT);
            case CHECKPOINT -> checkpoint(record, asked.durable());
            case RECOVER ->
                    givesUp
                            ? List.of(PRESERVE, LIST, GIVE_UP)
                            : List.of(PRESERVE, LIST, START_FROM_NEWEST);
            case DESTROY -> List.of(RELEASE);
            case ROLLBACK ->
                    switch (from) {
                        case RUNNING -> List.of(SAFETY, START_FROM_TARGET);
                        case FAILED -> List.of(PRESERVE, LIST, NEED_SAFETY, START_FROM_TARGET);
                        case SUSPENDED -> List.of(START_FROM_TARGET_ANYWHERE);
                        case NEW, WARM, PAUSED, DESTROYED -> List.of(START_FROM_TARGET);
                    };
            // The commit makes the children: all of them, or none where a DESTROY was faster.
            case FORK -> asked.target() != null ? List.of() : List.of(TAKE);
            case SUSPEND -> suspend(record);
            case RESTORE -> List.of(RESTORE);
            case PREPARE, BIND ->
                    throw new IllegalStateException("invariant: the table started " + kind);
        };
    }

    /** What does not run stands on a snapshot already; SUSPEND stores it. */
    private static List<Step> checkpoint(SessionRecord record, boolean durable) {
        boolean runs = record.state() == SessionState.RUNNING;
        if (!runs) {
            return List.of();
        }
        return durable ? List.of(TAKE, BEGIN_UPLOAD, STORE) : List.of(TAKE);
    }

    private static List<Step> suspend(SessionRecord record) {
        if (record.state() == SessionState.RUNNING) {
            return List.of(PAUSE_FIRST, BEGIN_UPLOAD, UPLOAD);
        }
        return record.standsOnDurable() ? List.of(FIND_STORED) : List.of(BEGIN_UPLOAD, UPLOAD);
    }

    private static void pause(OperationContext c) {
        pauseForGood(c, "pause");
        c.vmIs(null);
    }

    /** Publishes a snapshot of what runs, which ends its VM. */
    static void pauseForGood(OperationContext c, String step) {
        String node = c.node();
        SnapshotTaken taken =
                c.calls.node(
                        step,
                        Tries.UNTIL_ANSWERED,
                        (ref, _) ->
                                Calls.snapshotting(node)
                                        .pauseSandbox(new TakeSnapshot(ref, c.snapshotId())));
        c.made.add(listed(taken, node));
    }

    private static void checkpoint(OperationContext c) {
        String node = c.node();
        SnapshotTaken taken =
                c.calls.node(
                        "checkpoint",
                        Tries.UNTIL_ANSWERED,
                        (ref, _) ->
                                Calls.snapshotting(node)
                                        .checkpointSandbox(new TakeSnapshot(ref, c.snapshotId())));
        c.made.add(listed(taken, node));
    }

    private static void deleteSnapshot(OperationContext c) {
        if (c.operation.nodeLost() || c.isRegistered()) { // its row lists it: it stays
            return;
        }
        String node = c.node();
        try {
            c.calls.end(
                    "delete snapshot",
                    Tries.UNTIL_DONE,
                    (ref, _) -> {
                        Calls.ending(node).deleteSnapshot(new DeleteSnapshot(ref, c.snapshotId()));
                        return null;
                    });
        } catch (StepFailure e) {
            c.owed.add(node); // declared lost meanwhile
        }
    }

    /**
     * Where the disk cannot be had the recovery goes on without it; but for want of space it is
     * only not to be had now, and a start would remove it.
     */
    private static void preserve(OperationContext c) {
        if (c.record().node() == null) {
            return;
        }
        String node = c.node();
        try {
            SnapshotTaken taken =
                    c.calls.node(
                            "preserve disk",
                            Tries.UNTIL_ANSWERED,
                            (ref, _) ->
                                    Calls.snapshotting(node)
                                            .preserveDisk(new PreserveDisk(ref, c.snapshotId())));
            c.vmIs(null);
            if (taken != null) {
                c.become(c.record().withPreserved(listed(taken, node)));
            }
        } catch (StepFailure e) {
            boolean later =
                    e.code() == ErrorCode.NODE_DISK_FULL
                            && c.operation.kind == OperationKind.RECOVER;
            if (later || e.code() == ErrorCode.NODE_LOST) {
                throw e;
            }
        }
    }

    private static void listPreserved(OperationContext c) {
        SnapshotRef disk = c.record().preserved();
        if (disk == null) {
            return;
        }
        var _ = c.ref("list disk", c.nextPlace(), 1);
        RecordSnapshots request =
                new RecordSnapshots(
                        c.session.session(),
                        c.operation.request.operation(),
                        c.fence(),
                        List.of(disk),
                        PRESERVED_PIN.toMillis());
        CommitAnswer answer = StepCalls.database(() -> Calls.control().recordSnapshots(request));
        if (!answer.written()) {
            throw new Overtaken(answer.tombstone());
        }
    }

    private static void giveUp(OperationContext c) {
        Operation.GiveUp why = c.operation.giveUp;
        if (why == null) {
            throw new IllegalStateException("invariant: an operation gives up without a reason");
        }
        throw new StepFailure(why.code(), why.detail());
    }

    /** Never fails: what cannot be reached is owed. */
    private static void releaseNodes(OperationContext c) {
        for (String node : c.record().nodes()) {
            boolean away = c.record().nodeAway() && node.equals(c.record().node());
            if (away) {
                c.owed.add(node);
                continue;
            }
            try {
                c.calls.end(
                        "release " + node,
                        Tries.A_FEW,
                        (ref, n) -> {
                            Starting.release(node, ref, n);
                            return null;
                        });
            } catch (StepFailure e) {
                c.owed.add(node);
            }
        }
    }

    static SnapshotRef listed(SnapshotTaken taken, String node) {
        return new SnapshotRef(
                taken.snapshot(),
                taken.kind(),
                node,
                taken.epoch(),
                taken.stop(),
                taken.bytes(),
                taken.takenAtMillis());
    }
}
