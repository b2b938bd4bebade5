package dev.space.workflow;

import dev.space.contract.control.UploadBegun;
import dev.space.contract.node.StepRef;
import dev.space.contract.session.DurableRef;
import dev.space.contract.session.InFlight;
import dev.space.contract.session.SessionRecord;
import dev.space.contract.session.SessionStart;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import io.temporal.workflow.Workflow;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What the steps of one operation share: the session, the fence so far, and what was made. */
final class OperationContext {

    final SessionStart session;
    final Operation operation;
    final StepCalls calls;

    /** Snapshots that this operation made and its commit lists. */
    final List<SnapshotRef> made = new ArrayList<>();

    /** Nodes that did not acknowledge their fence. */
    final Set<String> owed = new LinkedHashSet<>();

    /** Of a SUSPEND what is stored now; of a start what was stored and it came from. */
    @Nullable DurableRef durable;

    /** How long the phases of a start from the template took on its node. */
    @Nullable Map<String, Long> startMicros;

    private final RecordHolder holder;
    private @Nullable SnapshotId snapshot;
    private @Nullable UploadBegun upload;
    private @Nullable SnapshotRef uploaded;
    private @Nullable Fence vm;
    private @Nullable SessionState failsTo;
    private int place;
    private long attempt;

    /** The only place where the session's record is kept. */
    interface RecordHolder {
        SessionRecord record();

        void become(SessionRecord next);
    }

    OperationContext(SessionStart session, Operation operation, RecordHolder holder) {
        this.session = session;
        this.operation = operation;
        this.holder = holder;
        this.vm = holder.record().vm();
        this.calls = new StepCalls(this);
        this.place = operation.placeBefore(Workflow.currentTimeMillis());
    }

    SessionRecord record() {
        return holder.record();
    }

    void become(SessionRecord next) {
        holder.become(next);
    }

    /** The next place in the order of the operation's steps, undo included. */
    int nextPlace() {
        place++;
        return place;
    }

    /** The fence of an attempt. It is written into the record, where operators see it. */
    StepRef ref(String step, int atPlace, int tryNumber) {
        attempt = Fence.attempt(atPlace, tryNumber);
        become(record().withInFlight(inFlight().atStep(step, attempt)));
        return new StepRef(session.session(), operation.request.operation(), fence());
    }

    Fence fence() {
        InFlight now = inFlight();
        return new Fence(now.epoch(), now.number(), attempt);
    }

    InFlight inFlight() {
        InFlight now = record().inFlight();
        if (now == null) {
            throw new IllegalStateException("invariant: no operation in flight");
        }
        return now;
    }

    /** The operation goes on under another epoch and on another node. */
    void moveTo(String node, long epoch) {
        become(record().withNode(node).withInFlight(inFlight().underEpoch(epoch)));
        operation.onOtherNode();
    }

    /** Where the session is; only called where the operation cannot be without a node. */
    String node() {
        String node = record().node();
        if (node == null) {
            throw new IllegalStateException("invariant: the session has no node");
        }
        return node;
    }

    /**
     * One snapshot id for the whole operation, so that every attempt makes the same; it follows
     * from the operation's, so that another run of the workflow makes it too.
     */
    SnapshotId snapshotId() {
        SnapshotId known = snapshot;
        if (known == null) {
            known = newSnapshotId();
            snapshot = known;
        }
        return known;
    }

    /** The rows know of an upload and of what it is. */
    void upload(UploadBegun begun, SnapshotRef of) {
        upload = begun;
        uploaded = of;
    }

    boolean isRegistered() {
        return upload != null;
    }

    UploadBegun upload() {
        return begun(upload);
    }

    SnapshotRef uploaded() {
        return begun(uploaded);
    }

    private static <T> T begun(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("invariant: an upload without its row");
        }
        return part;
    }

    private SnapshotId newSnapshotId() {
        // Once the id was random. Activity ids count such draws, so that without this one no
        // history from before would replay; getVersion would yield here and reorder its commands.
        var _ = Workflow.newRandom();
        String id = operation.request.operation().value();
        return new SnapshotId(SnapshotId.PREFIX + id.substring(OperationId.PREFIX.length()));
    }

    @Nullable Fence vm() {
        return vm;
    }

    void vmIs(@Nullable Fence start) {
        vm = start;
    }

    /** Where a failure would leave the session now; null: where the operation's row says. */
    @Nullable SessionState failsTo() {
        return failsTo;
    }

    void failsTo(SessionState state) {
        failsTo = state;
    }
}
