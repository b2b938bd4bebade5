package dev.space.guest.channel;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;

/** The time that one wait for the guest may still take. */
final class Deadline {

    private final long end;
    private final Duration timeout;
    private final String what;

    Deadline(Duration timeout, String what) {
        this.timeout = timeout;
        this.what = what;
        this.end = System.nanoTime() + timeout.toNanos();
    }

    /** Waits for a signal; throws when the time is over. The caller holds the condition's lock. */
    @SuppressWarnings("WaitNotInLoop") // The loop is the caller's: it asks for its condition again.
    void await(Condition condition) {
        try {
            var left = end - System.nanoTime();
            if (left > 0) {
                var _ = condition.awaitNanos(left);
            } else {
                throw new SpaceException(
                        ErrorCode.GUEST_UNREACHABLE,
                        "the guest did not answer "
                                + what
                                + " within "
                                + timeout.toMillis()
                                + " ms; try again or reconnect");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SpaceException(
                    ErrorCode.UNAVAILABLE, "the wait for " + what + " was interrupted", e);
        }
    }
}
