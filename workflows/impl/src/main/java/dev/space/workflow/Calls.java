package dev.space.workflow;

import dev.space.contract.TaskQueues;
import dev.space.contract.control.ControlActivities;
import dev.space.contract.control.DirectNodeActivities;
import dev.space.contract.node.NodeActivities;
import io.temporal.activity.ActivityOptions;
import io.temporal.activity.LocalActivityOptions;
import io.temporal.common.RetryOptions;
import io.temporal.workflow.Workflow;
import java.time.Duration;

/**
 * The stubs with their time-outs. None of them retries: the workflow repeats a step itself, because
 * each attempt needs a higher fence.
 */
final class Calls {

    private static final Duration DATABASE = Duration.ofSeconds(5);
    private static final Duration DIRECT = Duration.ofMillis(DirectNodeActivities.CAP_MILLIS);
    private static final Duration HEARTBEAT =
            Duration.ofMillis(NodeActivities.HEARTBEAT_TIMEOUT_MILLIS);

    /** A node whose worker does not take the task by then is not there. */
    private static final Duration PICK_UP = Duration.ofSeconds(10);

    /** Includes making a template's start snapshot under emulation. */
    private static final Duration START = Duration.ofMinutes(5);

    /** A pause writes the guest's memory to disk. */
    private static final Duration SNAPSHOT = Duration.ofMinutes(5);

    /** The memory and disk of the largest size over a slow line. */
    private static final Duration TRANSFER = Duration.ofHours(2);

    private static final Duration END = Duration.ofMinutes(1);

    private static final RetryOptions ONCE =
            RetryOptions.newBuilder().setMaximumAttempts(1).build();

    private Calls() {}

    static ControlActivities control() {
        return Workflow.newLocalActivityStub(ControlActivities.class, local(DATABASE));
    }

    static DirectNodeActivities direct() {
        return Workflow.newLocalActivityStub(DirectNodeActivities.class, local(DIRECT));
    }

    static NodeActivities starting(String node) {
        return onNode(node, START);
    }

    static NodeActivities snapshotting(String node) {
        return onNode(node, SNAPSHOT);
    }

    static NodeActivities transferring(String node) {
        return onNode(node, TRANSFER);
    }

    static NodeActivities ending(String node) {
        return onNode(node, END);
    }

    private static LocalActivityOptions local(Duration limit) {
        return LocalActivityOptions.newBuilder()
                .setStartToCloseTimeout(limit)
                .setScheduleToCloseTimeout(limit.plusSeconds(1))
                .setRetryOptions(ONCE)
                .build();
    }

    private static NodeActivities onNode(String node, Duration limit) {
        return Workflow.newActivityStub(
                NodeActivities.class,
                ActivityOptions.newBuilder()
                        .setTaskQueue(TaskQueues.node(node))
                        .setScheduleToStartTimeout(PICK_UP)
                        .setStartToCloseTimeout(limit)
                        .setHeartbeatTimeout(HEARTBEAT)
                        .setRetryOptions(ONCE)
                        .build());
    }
}
