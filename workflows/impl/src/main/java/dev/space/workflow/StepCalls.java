package dev.space.workflow;

import dev.space.contract.node.StepRef;
import dev.space.model.ErrorCode;
import io.temporal.failure.ActivityFailure;
import io.temporal.failure.CanceledFailure;
import io.temporal.workflow.CancellationScope;
import io.temporal.workflow.Workflow;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends a step and repeats it, each attempt under a higher fence. An answer that says no is tried a
 * few times where its code allows; no answer at all is tried for as long as the step says, because
 * the call may have had its effect.
 */
final class StepCalls {

    /** The first pause between attempts; it doubles up to the longest. */
    static final Duration BACKOFF_FIRST = Duration.ofMillis(200);

    static final Duration BACKOFF_MAX = Duration.ofSeconds(30);

    private static final int FOREVER = Integer.MAX_VALUE;

    /**
     * How often a step is tried.
     *
     * @param refused attempts that were answered with a retryable code
     * @param unknown attempts that nobody answered
     */
    record Tries(int refused, int unknown) {

        /** For a step whose outcome must be known before anything else may happen. */
        static final Tries UNTIL_ANSWERED = new Tries(1, FOREVER);

        /** For an undo: nothing goes on before it is done. */
        static final Tries UNTIL_DONE = new Tries(FOREVER, FOREVER);

        /** For what becomes a cleanup_owed row when it does not succeed. */
        static final Tries A_FEW = new Tries(3, 3);

        private boolean exhausted(int refusedNow, int unknownNow) {
            return refusedNow >= refused || unknownNow >= unknown;
        }
    }

    /** One attempt of a step. */
    @FunctionalInterface
    interface Attempt<T extends @Nullable Object> {
        T call(StepRef ref, int tryNumber);
    }

    private final OperationContext context;

    StepCalls(OperationContext context) {
        this.context = context;
    }

    /** The answer of the step, or a {@link StepFailure}. */
    <T extends @Nullable Object> T node(String step, Tries tries, Attempt<T> attempt) {
        int place = context.nextPlace();
        int refused = 0;
        int unknown = 0;
        Duration pause = BACKOFF_FIRST;
        for (int n = 1; ; n++) {
            if (context.operation.nodeLost()) {
                throw lost();
            }
            if (context.operation.transferIsCancelled()) {
                throw cancelled();
            }
            StepRef ref = context.ref(step, place, n);
            int now = n;
            Result<T> result = interruptible(() -> once(attempt, ref, now));
            if (result instanceof Answer<T>(T value)) {
                return value;
            }
            CallFailure failure = ((Failed<T>) result).failure();
            if (failure.unknown()) {
                unknown++;
            } else {
                refused++;
            }
            boolean hopeless = !failure.unknown() && !failure.code().isRetryable();
            if (tries.exhausted(refused, unknown) || (hopeless && tries.refused() != FOREVER)) {
                throw failure.asStepFailure();
            }
            pause(pause);
            pause = longer(pause);
        }
    }

    /** As {@link #node}, and until it is answered a command may cancel it (rule 11). */
    <T extends @Nullable Object> T transfer(String step, Tries tries, Attempt<T> attempt) {
        context.operation.cancellable(true);
        try {
            return node(step, tries, attempt);
        } finally {
            context.operation.cancellable(false);
        }
    }

    /** As {@link #node} for a fence or an undo: to be overtaken by a newer fence is to be done. */
    void end(String step, Tries tries, Attempt<@Nullable Void> attempt) {
        CallsSwallowingStale swallowing = new CallsSwallowingStale(attempt);
        node(step, tries, swallowing);
    }

    /** A row's write or read, repeated until the database answers. */
    static <T extends @Nullable Object> T database(Supplier<T> call) {
        Duration pause = BACKOFF_FIRST;
        while (true) {
            try {
                return call.get();
            } catch (ActivityFailure e) {
                var _ = CallFailure.of(e); // passes a cancellation on
                Workflow.sleep(pause);
                pause = longer(pause);
            }
        }
    }

    void pause(Duration pause) {
        interruptible(() -> {
            Workflow.sleep(pause);
            return pause;
        });
    }

    static Duration longer(Duration pause) {
        Duration twice = pause.multipliedBy(2);
        return twice.compareTo(BACKOFF_MAX) > 0 ? BACKOFF_MAX : twice;
    }

    private static <T extends @Nullable Object> Result<T> once(
            Attempt<T> attempt, StepRef ref, int tryNumber) {
        try {
            return new Answer<>(attempt.call(ref, tryNumber));
        } catch (ActivityFailure e) {
            return new Failed<>(CallFailure.of(e));
        }
    }

    /** Runs where the loss of the node interrupts it; a wider cancellation passes through. */
    private <T> T interruptible(Supplier<T> work) {
        Slot<T> slot = new Slot<>();
        CancellationScope scope = Workflow.newCancellationScope(() -> slot.value = work.get());
        context.operation.attemptIn(scope);
        try {
            scope.run();
        } catch (CanceledFailure e) {
            boolean superseded = context.operation.supersededBy() != null;
            if (context.operation.nodeLost() && !superseded) {
                throw lost();
            }
            if (context.operation.transferIsCancelled() && !superseded) {
                throw cancelled();
            }
            throw e;
        } finally {
            context.operation.attemptIn(null);
        }
        T value = slot.value;
        if (value == null) {
            throw new IllegalStateException("invariant: a scope ended without a result");
        }
        return value;
    }

    private StepFailure cancelled() {
        return StepFailure.cancelled("cancelled by " + context.operation.cancelledBy());
    }

    private static StepFailure lost() {
        return new StepFailure(ErrorCode.NODE_LOST, "the session's node was declared lost");
    }

    private static final class Slot<T> {
        private @Nullable T value;
    }

    private sealed interface Result<T extends @Nullable Object> {}

    private record Answer<T extends @Nullable Object>(T value) implements Result<T> {}

    private record Failed<T extends @Nullable Object>(CallFailure failure) implements Result<T> {}

    private record CallsSwallowingStale(Attempt<@Nullable Void> inner)
            implements Attempt<@Nullable Void> {
        @Override
        public @Nullable Void call(StepRef ref, int tryNumber) {
            try {
                return inner.call(ref, tryNumber);
            } catch (ActivityFailure e) {
                if (CallFailure.of(e).code() == ErrorCode.STALE_FENCE) {
                    return null;
                }
                throw e;
            }
        }
    }
}
