package dev.space.workflow;

import dev.space.contract.node.EndSandbox;
import dev.space.model.ErrorCode;
import dev.space.model.SessionState;
import dev.space.workflow.StepCalls.Tries;

/**
 * What ROLLBACK does before it starts: the present is kept as a snapshot, so that a rollback can be
 * rolled back. A PAUSED session stands on such a snapshot already.
 */
final class Rollback {

    private Rollback() {}

    /** Of a running session: its VM is paused for good. */
    static void safety(OperationContext c) {
        try {
            OperationSteps.pauseForGood(c, "safety snapshot");
            c.failsTo(SessionState.PAUSED);
        } catch (StepFailure e) {
            if (!c.inFlight().acceptLoss() || e.code() == ErrorCode.NODE_LOST) {
                throw e;
            }
            end(c, c.node());
            c.failsTo(SessionState.FAILED);
        }
        c.vmIs(null);
    }

    private static void end(OperationContext c, String node) {
        c.calls.end(
                "end without safety",
                Tries.UNTIL_DONE,
                (ref, _) -> {
                    Calls.ending(node).endSandbox(new EndSandbox(ref, "rolled back"));
                    return null;
                });
    }

    /** Of a failed session: what its dead VM left on its disk is all that can be kept. */
    static void needSafety(OperationContext c) {
        if (c.record().preserved() == null && !c.inFlight().acceptLoss()) {
            throw new StepFailure(
                    ErrorCode.PRECONDITION_FAILED,
                    "nothing of the failed sandbox could be kept; to roll back all the same send"
                            + " acceptLoss");
        }
    }
}
