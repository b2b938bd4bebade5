package dev.space.gateway.slot;

import java.util.function.LongSupplier;

/** So many a second, and some at once. Not for several threads. */
final class TokenBucket {

    private static final double NANOS_PER_SECOND = 1e9;

    private final double perSecond;
    private final double burst;
    private final LongSupplier nanos;
    private double tokens;
    private long at;

    TokenBucket(double perSecond, double burst, LongSupplier nanos) {
        this.perSecond = perSecond;
        this.burst = burst;
        this.nanos = nanos;
        tokens = burst;
        at = nanos.getAsLong();
    }

    /** Whether one more may be had now. */
    boolean take() {
        long now = nanos.getAsLong();
        tokens = Math.min(burst, tokens + (now - at) / NANOS_PER_SECOND * perSecond);
        at = now;
        if (tokens < 1) {
            return false;
        }
        tokens--;
        return true;
    }
}
