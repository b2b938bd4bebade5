package dev.space.workflow;

import java.util.function.Consumer;

/** How a step is taken back. A step without either does not compile. */
sealed interface Undo {

    /** Repeatable, and success when the step never happened. */
    record By(String name, Consumer<OperationContext> action) implements Undo {}

    /** There is nothing to take back, and this is why. */
    record None(String because) implements Undo {}
}
