package dev.space.node.rolling;

import dev.space.model.Fence;
import dev.space.node.volumes.ChangeMark;
import java.util.concurrent.atomic.AtomicBoolean;

/** What the schedule remembers of one sandbox. Touched by one thread at a time. */
final class Track {

    final Fence start;
    final AtomicBoolean busy = new AtomicBoolean();

    /** What the guest had done by the last snapshot of its disk, and of its memory too. */
    ChangeMark disk;

    ChangeMark full;

    /** When each is due next, on a clock that only goes forward. */
    volatile long diskDue;

    volatile long fullDue;

    Track(Fence start, ChangeMark disk, ChangeMark full, long diskDue, long fullDue) {
        this.start = start;
        this.disk = disk;
        this.full = full;
        this.diskDue = diskDue;
        this.fullDue = fullDue;
    }

    boolean isDue(long now) {
        return now - diskDue >= 0 || now - fullDue >= 0;
    }
}
