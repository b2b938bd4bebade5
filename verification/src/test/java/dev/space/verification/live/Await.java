package dev.space.verification.live;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** Waits for a condition with a deadline; says what it waited for when that does not come. */
final class Await {

    private static final long LOOK_EVERY_NANOS = Duration.ofMillis(100).toNanos();

    private Await() {}

    static void until(String what, Duration max, Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + max.toNanos();
        while (!condition.call()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("not within " + max.toSeconds() + " s: " + what);
            }
            LockSupport.parkNanos(LOOK_EVERY_NANOS);
        }
    }
}
