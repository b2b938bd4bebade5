package dev.space.node.rolling;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time of day, and whether it may decide what is old. Set forward by mistake it would make a
 * week's snapshots too old at once; so after a jump nothing is judged by age until the clock is
 * back or has stayed for an hour. The jump may have been while this process was not there: what it
 * believed last is kept in a file. After a boot nothing tells a jump from the time that the machine
 * was off, so that hour passes first unless it was off for minutes only.
 */
public final class SteadyTime {

    private static final Logger LOG = LoggerFactory.getLogger(SteadyTime.class);

    static final Duration JUMP = Duration.ofMinutes(5);
    static final Duration HOLD = Duration.ofHours(1);

    private final LongSupplier unixMillis;
    private final LongSupplier clock;
    private final String boot;
    private final ClockFile file;
    private long trusted;
    private long jumped;
    private long since;
    private boolean held;

    /**
     * @param unixMillis the time of day
     * @param clock milliseconds of a clock that only goes forward, at the same pace
     */
    public SteadyTime(LongSupplier unixMillis, LongSupplier clock) {
        this(unixMillis, clock, "", ClockFile.NONE);
    }

    /**
     * @param clock one that goes on through restarts of this process
     * @param boot names the boot of the machine that the clock counts from
     * @param file where what is believed is kept
     */
    public SteadyTime(LongSupplier unixMillis, LongSupplier clock, String boot, ClockFile file) {
        this.unixMillis = unixMillis;
        this.clock = clock;
        this.boot = boot;
        this.file = file;
        this.trusted = offset() - file.read().map(this::jump).orElse(0L);
    }

    /** How far the clock is from where it was left. */
    private long jump(ClockFile.Seen last) {
        ClockFile.Seen now = seen();
        return last.jump(now).orElseGet(() -> now.unixMillis() - last.unixMillis());
    }

    private ClockFile.Seen seen() {
        return new ClockFile.Seen(boot, unixMillis.getAsLong(), clock.getAsLong());
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
            return believed(offset);
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
        return believed(offset);
    }

    private boolean believed(long offset) {
        trusted = offset;
        held = false;
        file.write(seen());
        return true;
    }

    private static boolean near(long one, long other) {
        return Math.abs(one - other) <= JUMP.toMillis();
    }
}
