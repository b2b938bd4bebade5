package dev.space.contract;

/** Names of the Temporal task queues. */
public final class TaskQueues {

    /** Session workflows and the control plane's own activities. */
    public static final String CONTROL = "control";

    private TaskQueues() {}

    /** The queue that only this node's worker polls. */
    public static String node(String nodeId) {
        return "node." + nodeId;
    }
}
