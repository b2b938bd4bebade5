package dev.space.node.pool;

import java.util.concurrent.atomic.LongAdder;

/** What became of VMs that were made ahead. */
public final class PoolCounts {

    private final LongAdder made = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final LongAdder discarded = new LongAdder();
    private final LongAdder tookHot = new LongAdder();
    private final LongAdder tookPrepared = new LongAdder();

    void made() {
        made.increment();
    }

    void failed() {
        failed.increment();
    }

    void discarded() {
        discarded.increment();
    }

    void tookHot() {
        tookHot.increment();
    }

    void tookPrepared() {
        tookPrepared.increment();
    }

    /** VMs that were made. */
    public long allMade() {
        return made.sum();
    }

    /** VMs that could not be made. */
    public long allFailed() {
        return failed.sum();
    }

    /** VMs that were ended without a session having had them. */
    public long allDiscarded() {
        return discarded.sum();
    }

    /** Hot VMs that sessions were given. */
    public long allTakenHot() {
        return tookHot.sum();
    }

    /** Waiting VMMs that sessions were given. */
    public long allTakenPrepared() {
        return tookPrepared.sum();
    }
}
