/**
 * The session's entity workflow. {@code SessionWorkflowImpl} decides by the lifecycle table and
 * runs one operation at a time; {@code OperationSteps} declares what each operation does; {@code
 * StepCalls} sends a step under a fence and repeats it. Everything here is deterministic: time,
 * randomness and threads come from Temporal.
 */
@NullMarked
package dev.space.workflow;

import org.jspecify.annotations.NullMarked;
