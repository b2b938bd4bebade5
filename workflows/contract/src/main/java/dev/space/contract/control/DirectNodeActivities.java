package dev.space.contract.control;

import dev.space.contract.node.ReleaseSession;
import dev.space.contract.node.SandboxStarted;
import dev.space.contract.node.StartSandbox;
import io.temporal.activity.ActivityInterface;

/**
 * Steps that go straight to a node's gRPC API, as local activities on the hot path. Hard cap {@link
 * #CAP_MILLIS}, after which the workflow goes on with the same step on the node's task queue under
 * a higher attempt, and finds there what the first attempt made. A node that would take longer (it
 * has to materialise the template) answers NOT_READY at once. A failure is an {@code
 * ApplicationFailure} whose type is the name of an {@link dev.space.model.ErrorCode}.
 */
@ActivityInterface
public interface DirectNodeActivities {

    /** The longest that a call may take; below the workflow task's time-out. */
    long CAP_MILLIS = 2_000;

    SandboxStarted startSandboxNow(String node, StartSandbox request);

    void releaseSessionNow(String node, ReleaseSession request);
}
