package dev.space.contract.session;

import io.temporal.workflow.QueryMethod;
import io.temporal.workflow.SignalMethod;
import io.temporal.workflow.UpdateMethod;
import io.temporal.workflow.UpdateValidatorMethod;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One entity workflow per session, on {@link dev.space.contract.TaskQueues#CONTROL}. Start it with
 * REJECT_DUPLICATE (the reconciler alone may use ALLOW_DUPLICATE, with {@code restored} set). The
 * update id of {@code create}, {@code submit} and {@code destroy} is the operation's id, so that
 * sending one again is harmless. One that was started ahead and is never asked for anything ends by
 * itself after {@link #AHEAD_MAX}.
 */
@WorkflowInterface
public interface SessionWorkflow {

    /** How long a workflow waits for its session; whoever started it counts on less. */
    Duration AHEAD_MAX = Duration.ofHours(1);

    @WorkflowMethod
    void run(SessionStart start);

    /**
     * Update-With-Start. Answers when the session runs or its creation failed; on a tombstone, with
     * GONE while the workflow destroys the session.
     *
     * @param start the session, for a workflow that was started ahead of it; null where the
     *     workflow starts with it
     */
    @UpdateMethod
    CommandAnswer create(SubmitCommand request, @Nullable SessionStart start);

    /**
     * Answers once the command is accepted, joined, already so, waiting for another operation, or
     * refused; how it ends is written to the operation's row.
     */
    @UpdateMethod
    CommandAnswer submit(SubmitCommand request);

    /** A defect of the caller is refused before it is recorded. */
    @UpdateValidatorMethod(updateName = "submit")
    void checkSubmit(SubmitCommand request);

    /**
     * Update-With-Start, because the workflow may have no run yet. The tombstone must have been
     * written before. Answers once DESTROY is accepted.
     *
     * @param start as {@link #create} has it
     */
    @UpdateMethod
    CommandAnswer destroy(SubmitCommand request, @Nullable SessionStart start);

    /**
     * The node reported the end of a VM. Reports of another start than the current one do nothing.
     */
    @SignalMethod
    void vmExited(VmExit exit);

    @SignalMethod
    void nodeChanged(NodeChange change);

    /** The idle policy's time is over. */
    @SignalMethod
    void idle(IdleReport report);

    /** The node holds the session's sandbox because its disk is nearly full. */
    @SignalMethod
    void nodeFull(NodeFullReport report);

    /** The key of the session's organisation is revoked, and what runs must end. */
    @SignalMethod
    void keyRevoked(KeyRevokedReport report);

    /**
     * The deadline in the row was changed (null: removed); the row stays the truth and is asked
     * again when due.
     */
    @SignalMethod
    void deadlineChanged(@Nullable DeadlinePolicy deadline);

    @QueryMethod
    SessionRecord record();
}
