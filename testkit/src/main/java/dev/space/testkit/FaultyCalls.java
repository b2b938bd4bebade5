package dev.space.testkit;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.testkit.Faults.Fault;
import io.temporal.failure.ApplicationFailure;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Carries calls to a fake and lets the faults happen to them. */
final class FaultyCalls {

    private static final Duration HANGS_MAX = Duration.ofMinutes(1);

    private final String at;
    private final Faults faults;
    private final ErrorCode refusal;
    private final Deque<Runnable> late = new ArrayDeque<>();
    private long deliveries;

    FaultyCalls(String at, Faults faults, ErrorCode refusal) {
        this.at = at;
        this.faults = faults;
        this.refusal = refusal;
    }

    <T extends @Nullable Object> T call(String step, Supplier<T> effect) {
        Fault fault = faults.next(at, step);
        try {
            T answer =
                    switch (fault) {
                        case NONE -> effect.get();
                        case REFUSED -> throw failure(refusal, "refused by the fault plan");
                        case NO_SPACE ->
                                throw failure(ErrorCode.NODE_DISK_FULL, "by the fault plan");
                        case CALL_LOST -> throw lost();
                        case ANSWER_LOST -> {
                            swallow(effect);
                            throw lost();
                        }
                        case DOUBLED -> {
                            swallow(effect);
                            yield effect.get();
                        }
                        case LATE -> {
                            synchronized (late) {
                                late.add(() -> swallow(effect));
                            }
                            throw lost();
                        }
                        case HANGS -> {
                            awaitDelivery();
                            swallow(effect);
                            throw lost();
                        }
                    };
            arrive();
            return answer;
        } catch (SpaceException e) {
            throw failure(e.code(), String.valueOf(e.getMessage()));
        }
    }

    /** The delayed calls arrive now, whatever they find. */
    void deliverLate() {
        synchronized (late) {
            deliveries++;
            late.notifyAll();
        }
        arrive();
    }

    private void arrive() {
        while (true) {
            Runnable next;
            synchronized (late) {
                next = late.poll();
            }
            if (next == null) {
                return;
            }
            next.run();
        }
    }

    /** Ends with the next delivery, when its caller is cancelled, or after a long time. */
    private void awaitDelivery() {
        long until = System.nanoTime() + HANGS_MAX.toNanos();
        synchronized (late) {
            long seen = deliveries;
            try {
                while (seen == deliveries && System.nanoTime() < until) {
                    late.wait(HANGS_MAX.toMillis());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Those that are delayed never arrive. */
    void dropLate() {
        synchronized (late) {
            late.clear();
        }
    }

    private static void swallow(Supplier<?> effect) {
        try {
            var _ = effect.get();
        } catch (SpaceException e) {
            // its answer goes nowhere, and so does its refusal
        }
    }

    private static ApplicationFailure lost() {
        return failure(ErrorCode.NODE_UNREACHABLE, "no answer");
    }

    private static ApplicationFailure failure(ErrorCode code, String detail) {
        return ApplicationFailure.newFailure(detail, code.name());
    }
}
