package dev.space.vault;

import dev.space.model.Secret;
import java.util.concurrent.TimeUnit;

/**
 * What a log-in gave, with its times on the clock of {@link System#nanoTime}.
 *
 * @param since when it was asked for
 * @param renewAt from when on its use renews it first
 * @param until when it is not used any more, before the vault forgets it
 */
record Token(Secret value, long since, long renewAt, long until) {

    /** Some never end; they are renewed as if they did. */
    private static final long LONGEST_SECONDS = TimeUnit.DAYS.toSeconds(1);

    static Token of(Secret value, long since, long leaseSeconds) {
        long seconds =
                leaseSeconds <= 0 ? LONGEST_SECONDS : Math.min(leaseSeconds, LONGEST_SECONDS);
        long nanos = TimeUnit.SECONDS.toNanos(seconds);
        return new Token(value, since, since + nanos / 3 * 2, since + nanos / 10 * 9);
    }

    boolean isUsable(long now) {
        return now - until < 0;
    }

    boolean isDue(long now) {
        return now - renewAt >= 0;
    }

    Token notBefore(long later) {
        return new Token(value, since, later, until);
    }
}
