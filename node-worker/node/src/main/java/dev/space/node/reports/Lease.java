package dev.space.node.reports;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * How long this node may start sandboxes without having heard from the control plane. What it was
 * told before dies with its lease, because its sessions may be started elsewhere from then on. The
 * time counts from before the renewal was asked for, so that it is over here no later than there.
 * Sandboxes that run are not touched: a renewal names those that must end.
 */
public final class Lease {

    private final LongSupplier nanos;
    private final boolean needed;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition renewal = lock.newCondition();
    private boolean held;
    private long until;

    private Lease(LongSupplier nanos, boolean needed) {
        this.nanos = nanos;
        this.needed = needed;
    }

    /** Not held before the control plane knows this node. */
    public static Lease fromControlPlane() {
        return new Lease(System::nanoTime, true);
    }

    static Lease of(LongSupplier nanos) {
        return new Lease(nanos, true);
    }

    /** Of a node that has no control plane. */
    public static Lease notNeeded() {
        return new Lease(System::nanoTime, false);
    }

    /** To be read before a renewal is asked for. */
    long now() {
        return nanos.getAsLong();
    }

    void renewed(long askedAt, Duration time) {
        lock.lock();
        try {
            long next = askedAt + time.toNanos();
            if (!held || next - until > 0) {
                until = next;
            }
            held = true;
            renewal.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** The control plane does not know this node any more. */
    void lost() {
        lock.lock();
        try {
            held = false;
        } finally {
            lock.unlock();
        }
    }

    private boolean isOver() {
        return needed && (!held || until - nanos.getAsLong() <= 0);
    }

    /** Refuses once the time to wait for a renewal is over. */
    public void demand(Duration wait) {
        lock.lock();
        try {
            long left = wait.toNanos();
            while (isOver()) {
                if (left <= 0) {
                    throw new SpaceException(
                            ErrorCode.UNAVAILABLE,
                            "the node's lease is over: it starts nothing before it has reached the"
                                    + " control plane again");
                }
                left = renewal.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SpaceException(ErrorCode.UNAVAILABLE, "the node is stopping", e);
        } finally {
            lock.unlock();
        }
    }
}
