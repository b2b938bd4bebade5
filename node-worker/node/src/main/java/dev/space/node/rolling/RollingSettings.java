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
 * @param sessionBytes what the snapshots of one session may cost on the disk; 0: as much as there
 *     is
 * @param nodeBytes what those of all sessions may; 0: as much as there is
 */
public record RollingSettings(
        Duration diskEvery,
        Duration fullEvery,
        boolean freeze,
        long reserveBytes,
        Thinning keep,
        int snapshotsMax,
        long sessionBytes,
        long nodeBytes) {

    /** With no bound in bytes. */
    public RollingSettings(
            Duration diskEvery,
            Duration fullEvery,
            boolean freeze,
            long reserveBytes,
            Thinning keep,
            int snapshotsMax) {
        this(diskEvery, fullEvery, freeze, reserveBytes, keep, snapshotsMax, 0, 0);
    }

    boolean takesAny() {
        return diskEvery.isPositive() || fullEvery.isPositive();
    }
}
