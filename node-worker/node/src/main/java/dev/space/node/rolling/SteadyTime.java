package dev.space.node.rolling;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time of day, and whether it may decide what is old. Set forward by mistake it would make a
 * week's snapshots too old at once; so after a jump nothing is judged by age until the clock is
 * back or has stayed for an hour.
 */
public final class SteadyTime {

    private static final Logger LOG = LoggerFactory.getLogger(SteadyTime.class);

    static final Duration JUMP = Duration.ofMinutes(5);
    static final Duration HOLD = Duration.ofHours(1);

    private final LongSupplier unixMillis;
    private final LongSupplier clock;
    private long trusted;
    private long jumped;
    private long since;
    private boolean held;

    /**
     * @param unixMillis the time of day
     * @param clock milliseconds of a clock that only goes forward, at the same pace
     */
    public SteadyTime(LongSupplier unixMillis, LongSupplier clock) {
        this.unixMillis = unixMillis;
        this.clock = clock;
        this.trusted = offset();
    }

    private long offset() {
        return unixMillis.getAsLong() - clock.getAsLong();
    }

    long unixMillis() {
        return unixMillis.getAsLong();
    }

    /** To be asked often: what changed slowly since the last time is no jump. */
    synchronized boolean isSteady() {
        long offset = offset();
        if (near(offset, trusted)) {
            trusted = offset;
            held = false;
            return true;
        }
        if (!held || !near(offset, jumped)) {
            LOG.warn(
                    "the clock jumped by {} s: no snapshot is removed for its age until {} s have"
                            + " passed",
                    (offset - trusted) / 1000,
                    HOLD.toSeconds());
            held = true;
            jumped = offset;
            since = clock.getAsLong();
        }
        if (clock.getAsLong() - since < HOLD.toMillis()) {
            return false;
        }
        trusted = offset;
        held = false;
        return true;
    }

    private static boolean near(long one, long other) {
        return Math.abs(one - other) <= JUMP.toMillis();
    }
}
