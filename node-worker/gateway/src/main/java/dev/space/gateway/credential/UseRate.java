package dev.space.gateway.credential;

import dev.space.model.credential.UseLimit;
import java.util.function.LongSupplier;

/** How often one grant may still be used now. Refilled evenly; not for several threads. */
final class UseRate {

    private final double most;
    private final double perNano;
    private final LongSupplier nanos;
    private double left;
    private long at;

    UseRate(UseLimit limit, LongSupplier nanos) {
        this.nanos = nanos;
        most = limit.requests();
        perNano = limit.requests() / (limit.per().seconds() * 1e9);
        left = most;
        at = nanos.getAsLong();
    }

    /** Whether once more is allowed; then it counts. */
    boolean take() {
        long now = nanos.getAsLong();
        left = Math.min(most, left + (now - at) * perNano);
        at = now;
        if (left < 1) {
            return false;
        }
        left--;
        return true;
    }
}
