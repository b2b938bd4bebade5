package dev.space.node.sandbox;

import dev.space.contract.node.SandboxStarted;
import dev.space.contract.node.SnapshotTaken;
import dev.space.model.OperationId;
import org.jspecify.annotations.Nullable;

/** What a step answered, so that a retry gets the same; one of the two answers is null. */
record StepResult(
        OperationId operation,
        String step,
        @Nullable SandboxStarted started,
        @Nullable SnapshotTaken taken) {

    static final String START = "start";
}
