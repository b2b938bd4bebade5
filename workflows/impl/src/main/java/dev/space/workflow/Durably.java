package dev.space.workflow;

import dev.space.contract.control.BeginUpload;
import dev.space.contract.control.UploadBegun;
import dev.space.contract.node.DownloadSnapshot;
import dev.space.contract.node.EndSandbox;
import dev.space.contract.node.SnapshotTaken;
import dev.space.contract.node.SnapshotUploaded;
import dev.space.contract.node.TakeSnapshot;
import dev.space.contract.node.UploadSnapshot;
import dev.space.contract.session.DurableRef;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.ErrorCode;
import dev.space.model.OperationKind;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import dev.space.workflow.StepCalls.Tries;
import org.jspecify.annotations.Nullable;

/** What SUSPEND and RESTORE do with the object store. Only the node talks to it. */
final class Durably {

    /** An upload that is refused is tried again: what it has sent is found again. */
    private static final Tries UPLOAD = new Tries(8, Integer.MAX_VALUE);

    /** A node that cannot get the snapshot is left for another. */
    private static final Tries DOWNLOAD = new Tries(4, 4);

    private Durably() {}

    /**
     * SUSPEND of what runs: paused for good. Until that is published a failure changes nothing;
     * from then on the session is at least PAUSED.
     */
    static void pause(OperationContext c) {
        c.failsTo(SessionState.RUNNING);
        OperationSteps.pauseForGood(c, "pause");
        c.vmIs(null);
        published(c);
    }

    /** A PAUSED session stands on its snapshot already. */
    private static void published(OperationContext c) {
        c.failsTo(SessionState.PAUSED);
        c.operation.published();
    }

    /** The row first: what the object store has is never unknown to the rows. */
    static void register(OperationContext c) {
        if (c.operation.kind == OperationKind.SUSPEND) {
            published(c);
        }
        SnapshotRef snapshot = c.made.isEmpty() ? c.record().newest() : c.made.getLast();
        if (snapshot == null || !snapshot.node().equals(c.record().node())) {
            throw new StepFailure(
                    ErrorCode.SNAPSHOT_NOT_FOUND, "no snapshot of the session is left");
        }
        var _ = c.ref("begin upload", c.nextPlace(), 1);
        BeginUpload request =
                new BeginUpload(
                        c.session.session(), c.operation.request.operation(), c.fence(), snapshot);
        UploadBegun begun = StepCalls.database(() -> Calls.control().beginUpload(request));
        if (!begun.written()) {
            throw new Overtaken(begun.tombstone());
        }
        c.upload(begun, snapshot);
    }

    static void upload(OperationContext c) {
        UploadBegun begun = c.upload();
        if (begun.complete() != null) {
            c.durable = begun.complete();
            return;
        }
        String node = c.node();
        SnapshotRef snapshot = c.uploaded();
        boolean runs = c.operation.kind == OperationKind.CHECKPOINT;
        SnapshotUploaded done =
                c.calls.transfer(
                        "upload",
                        UPLOAD,
                        (ref, _) ->
                                Calls.transferring(node)
                                        .uploadSnapshot(
                                                new UploadSnapshot(
                                                        ref,
                                                        snapshot.id(),
                                                        begun.upload(),
                                                        begun.lineage(),
                                                        begun.previous(),
                                                        runs)));
        c.durable =
                new DurableRef(
                        snapshot,
                        begun.lineage(),
                        done.manifestKey(),
                        done.manifestDigest(),
                        done.bytesStored(),
                        done.bytesUploaded(),
                        done.bytesLogical());
    }

    /** The object store has it whole already: nothing but the row is left to write. */
    static void alreadyStored(OperationContext c) {
        published(c);
        c.durable = c.record().durable();
    }

    /**
     * The node must have acknowledged before the session is written as PAUSED: an attempt that
     * comes late would go on with an upload that nobody waits for.
     */
    static void undoUpload(OperationContext c) {
        if (c.operation.nodeLost()) {
            return;
        }
        var _ = fenced(c, c.node(), Tries.UNTIL_DONE);
    }

    /**
     * Of a checkpoint: what runs goes on. A node that is asked for a snapshot that is there answers
     * with it, and takes the fence.
     */
    static void undoStore(OperationContext c) {
        if (c.operation.nodeLost()) {
            return;
        }
        String node = c.node();
        SnapshotId snapshot = c.uploaded().id();
        try {
            c.calls.end(
                    "fence",
                    Tries.UNTIL_ANSWERED,
                    (ref, _) -> {
                        var _ =
                                Calls.snapshotting(node)
                                        .checkpointSandbox(new TakeSnapshot(ref, snapshot));
                        return null;
                    });
        } catch (StepFailure e) {
            return; // it has said no, and knows the fence; or it was declared lost meanwhile
        }
    }

    /** On any node: what is stored is published there, and a sandbox starts from it. */
    static void restore(OperationContext c) {
        DurableRef source = c.record().durable();
        if (source == null) {
            throw new StepFailure(
                    ErrorCode.SNAPSHOT_NOT_FOUND, "no stored snapshot of the session is left");
        }
        Starting.anywhere(c, () -> on(c, source));
    }

    private static void on(OperationContext c, DurableRef source) {
        SnapshotTaken there = fetch(c, source);
        try {
            Starting.startFrom(c, there.snapshot());
        } catch (StepFailure e) {
            if (!e.isOfTheCopy()) {
                throw e;
            }
            // The node's old copy made room for something else just after it was found.
            there = fetch(c, source);
            Starting.startFrom(c, there.snapshot());
        }
        c.made.clear();
        c.made.add(OperationSteps.listed(there, c.node()));
        c.durable = source;
    }

    /** On the session's node afterwards, among its own snapshots. */
    static SnapshotTaken fetch(OperationContext c, DurableRef source) {
        String node = c.node();
        return c.calls.transfer(
                "download",
                DOWNLOAD,
                (ref, _) ->
                        Calls.transferring(node)
                                .downloadSnapshot(
                                        new DownloadSnapshot(
                                                ref,
                                                source,
                                                c.session.templateDigest(),
                                                c.session.size())));
    }

    /** What was published on the node stays: it is a cache, and its next restore is faster. */
    static void undoRestore(OperationContext c) {
        if (c.record().node() != null && !acknowledged(c, c.node())) {
            c.owed.add(c.node());
        }
    }

    /** Ends what was started there and fences the rest; its snapshots stay. */
    static boolean acknowledged(OperationContext c, String node) {
        return fenced(c, node, Tries.A_FEW) == null;
    }

    private static @Nullable StepFailure fenced(OperationContext c, String node, Tries tries) {
        try {
            c.calls.end(
                    "fence",
                    tries,
                    (ref, _) -> {
                        Calls.ending(node).endSandbox(new EndSandbox(ref, "given up"));
                        return null;
                    });
            return null;
        } catch (StepFailure e) {
            return e;
        }
    }
}
