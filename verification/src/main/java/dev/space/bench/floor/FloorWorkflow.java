package dev.space.bench.floor;

import io.temporal.workflow.UpdateMethod;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;

/** The least that a session's creation asks of Temporal: one start, one Update, one activity. */
@WorkflowInterface
public interface FloorWorkflow {

    @WorkflowMethod
    void run();

    @UpdateMethod
    String create(String request);
}
