package dev.space.workflow;

import dev.space.contract.session.CommandAnswer;
import dev.space.contract.session.InFlight;
import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import io.temporal.workflow.CancellationScope;
import io.temporal.workflow.CompletablePromise;
import io.temporal.workflow.Workflow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The operation in flight, from the decision to start it until its end. */
final class Operation {

    /** Why an operation starts nothing and only writes that the session failed. */
    record GiveUp(ErrorCode code, String detail) {}

    /** Places that one run can take at once, without any waiting. */
    private static final int PLACES_OF_A_BURST = 1_000;

    /** After its first burst a run takes less than one place in this time. */
    private static final int PLACE_MILLIS = 100;

    final Request request;
    final OperationKind kind;
    final @Nullable OperationId supersedes;
    final @Nullable GiveUp giveUp;

    /** Set when an earlier run of the workflow began it: what that run knew of it. */
    final @Nullable InFlight begun;

    /** Completed when the row accepted or refused it. */
    final CompletablePromise<CommandAnswer> accepted = Workflow.newPromise();

    /** Completed when it has ended, whatever the outcome. */
    final CompletablePromise<CommandAnswer> done = Workflow.newPromise();

    final List<OperationId> joined = new ArrayList<>();

    /** The event that the platform started it for; null when somebody asked for it. */
    @Nullable Incoming because;

    private @Nullable GiveUp unplaced;
    private @Nullable CancellationScope scope;
    private @Nullable CancellationScope attempt;
    private @Nullable Request supersededBy;
    private boolean nodeLost;
    private boolean published;
    private boolean cancellable;
    private @Nullable String cancelledBy;
    private int joinedWritten;

    Operation(
            Request request,
            OperationKind kind,
            @Nullable OperationId supersedes,
            @Nullable GiveUp giveUp) {
        this.request = request;
        this.kind = kind;
        this.supersedes = supersedes;
        this.giveUp = giveUp;
        this.begun = null;
    }

    private Operation(Request request, InFlight begun) {
        this.request = request;
        this.kind = begun.kind();
        this.supersedes = null;
        this.giveUp = null;
        this.begun = begun;
    }

    /** The operation that the row has in flight while no workflow of the session runs. */
    static Operation goingOn(Request request, InFlight begun) {
        return new Operation(request, begun);
    }

    /**
     * The place before its first step. A run that goes on does not know how far the one before it
     * came, but no run takes places faster than time passes.
     */
    int placeBefore(long now) {
        if (begun == null) {
            return 0;
        }
        long passed = Math.max(0, now - begun.acceptedAtMillis()) / PLACE_MILLIS;
        return PLACES_OF_A_BURST + (int) Math.min(passed, Integer.MAX_VALUE / 2);
    }

    /** The row accepted it but found no node. */
    void unplaced(ErrorCode code, String detail) {
        unplaced = new GiveUp(code, detail);
    }

    /** Why it has no node; an operation that goes on from an earlier run does not know. */
    StepFailure whyUnplaced() {
        GiveUp why = unplaced;
        return why == null
                ? new StepFailure(ErrorCode.NO_CAPACITY, "no node has room for the sandbox now")
                : new StepFailure(why.code(), why.detail());
    }

    /** Ends what runs without any undo: DESTROY fences it. */
    void supersede(Request by) {
        supersededBy = by;
        CancellationScope running = scope;
        if (running != null) {
            running.cancel("superseded by DESTROY");
        }
    }

    @Nullable Request supersededBy() {
        return supersededBy;
    }

    /** The attempt that waits for the node is given up; the operation goes on as its row says. */
    void loseNode() {
        nodeLost = true;
        CancellationScope waiting = attempt;
        if (waiting != null) {
            waiting.cancel("node declared lost");
        }
    }

    boolean nodeLost() {
        return nodeLost;
    }

    /** Parts are on their way, and nothing after them was sent. */
    boolean isCancellable() {
        return cancellable && cancelledBy == null;
    }

    void cancellable(boolean yes) {
        cancellable = yes;
    }

    /** The transfer ends, the node is fenced, and the session is where it came from. */
    void cancelTransfer(@Nullable Command by) {
        if (!isCancellable()) {
            return;
        }
        cancelledBy = by == null ? "the end of the VM" : by.toString();
        CancellationScope waiting = attempt;
        if (waiting != null) {
            waiting.cancel("cancelled by " + cancelledBy);
        }
    }

    /** Only while the transfer lasts: what comes after it is not to be cancelled. */
    boolean transferIsCancelled() {
        return cancellable && cancelledBy != null;
    }

    @Nullable String cancelledBy() {
        return cancelledBy;
    }

    /** Of a SUSPEND: the session is at least PAUSED now. */
    void published() {
        published = true;
    }

    boolean isPublished() {
        return published;
    }

    /** The operation moved to another node: that one is not lost. */
    void onOtherNode() {
        nodeLost = false;
    }

    void runIn(CancellationScope running) {
        scope = running;
    }

    void attemptIn(@Nullable CancellationScope waiting) {
        attempt = waiting;
    }

    /** Those that joined so far end in the commit's own transaction. */
    List<OperationId> writeJoined() {
        joinedWritten = joined.size();
        return List.copyOf(joined);
    }

    int joinedWritten() {
        return joinedWritten;
    }
}
