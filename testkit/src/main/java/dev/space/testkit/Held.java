package dev.space.testkit;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One call that stands still, so that a test can break something in the middle of it. */
public final class Held {

    /** A test that forgets to release must not hang whoever called. */
    private static final Duration HELD_MAX = Duration.ofMinutes(2);

    private final Point point;
    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    /** Where the call stands still. */
    public enum Point {
        BEFORE_EFFECT,
        AFTER_EFFECT
    }

    Held(Point point) {
        this.point = point;
    }

    /** False when no call came in time. */
    public boolean awaitArrival(Duration limit) throws InterruptedException {
        return arrived.await(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    public void release() {
        released.countDown();
    }

    <T extends @Nullable Object> Supplier<T> around(Supplier<T> effect) {
        return () -> {
            if (point == Point.BEFORE_EFFECT) {
                stand();
            }
            T answer = effect.get();
            if (point == Point.AFTER_EFFECT) {
                stand();
            }
            return answer;
        };
    }

    private void stand() {
        arrived.countDown();
        try {
            var _ = released.await(HELD_MAX.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }
}
