package dev.space.node.rolling;

import dev.space.model.Thinning;
import java.time.Duration;

/**
 * How often snapshots are taken and how long they are kept.
 *
 * @param diskEvery time between disk snapshots of a session that changes; zero takes none
 * @param fullEvery time between checkpoints of a session that changes; zero takes none
 * @param freeze true to let the guest's file system come to rest for a disk snapshot
 * @param reserveBytes free space below which none is taken and the oldest go
 * @param snapshotsMax snapshots of one session; the oldest go first
 */
public record RollingSettings(
        Duration diskEvery,
        Duration fullEvery,
        boolean freeze,
        long reserveBytes,
        Thinning keep,
        int snapshotsMax) {

    boolean takesAny() {
        return diskEvery.isPositive() || fullEvery.isPositive();
    }
}
