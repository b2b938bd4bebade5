package dev.space.node.sandbox;

import dev.space.model.SnapshotId;
import java.time.Duration;

/**
 * A snapshot that an accepted operation starts from. Retention leaves it while the session has seen
 * no newer operation, and in any case for an hour: the children of a fork start after it ended.
 *
 * @param number of the operation
 */
record Hold(SnapshotId snapshot, long number, long untilMillis) {

    /** Longer than anything that an operation makes may try to start. */
    static final Duration LEAST = Duration.ofHours(1);

    static Hold from(SnapshotId snapshot, long number, long nowMillis) {
        return new Hold(snapshot, number, nowMillis + LEAST.toMillis());
    }

    boolean lasts(long highestNumber, long nowMillis) {
        return highestNumber <= number || nowMillis < untilMillis;
    }
}
