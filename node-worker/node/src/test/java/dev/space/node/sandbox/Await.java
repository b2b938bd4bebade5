package dev.space.node.sandbox;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits for a condition with a deadline. */
public final class Await {

    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private Await() {}

    public static void until(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + DEADLINE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("not within " + DEADLINE + ": " + what);
            }
            Thread.onSpinWait();
            java.util.concurrent.locks.LockSupport.parkNanos(1_000_000);
        }
    }
}
