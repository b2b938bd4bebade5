package dev.space.workflow;

import java.util.function.Consumer;

/** One repeatable step of an operation. It throws {@link StepFailure} when it failed for good. */
record Step(String name, Consumer<OperationContext> action, Undo undo) {}
