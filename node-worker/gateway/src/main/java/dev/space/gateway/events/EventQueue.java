package dev.space.gateway.events;

import dev.space.gatewayapi.v1.Event;
import dev.space.gatewayapi.v1.Gap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Numbered records that wait for an acknowledgement. When there is no room the oldest goes and is
 * counted: a reader that is away must cost neither memory nor a sandbox its network.
 */
public final class EventQueue {

    private final String incarnation;
    private final @Nullable Event[] ring;
    private final ReentrantLock lock = new ReentrantLock();

    /** Number of the oldest record that is kept; the next one's where none is. */
    private long first = 1;

    private long next = 1;

    /** The highest number that was acknowledged: what was dropped since is told as a gap. */
    private long acknowledged;

    private long dropped;
    private Runnable wake = () -> {};

    /**
     * Made once for the process.
     *
     * @param incarnation of the process, in every record
     * @param capacity records that wait at most
     */
    public EventQueue(String incarnation, int capacity) {
        this.incarnation = incarnation;
        this.ring = new @Nullable Event[capacity];
    }

    public String incarnation() {
        return incarnation;
    }

    /** Numbers the record and keeps it. */
    public void add(Event.Builder record) {
        Runnable toWake;
        lock.lock();
        try {
            if (next - first == ring.length) {
                ring[slot(first)] = null;
                first++;
                dropped++;
            }
            ring[slot(next)] = record.setIncarnation(incarnation).setSequence(next).build();
            next++;
            toWake = wake;
        } finally {
            lock.unlock();
        }
        toWake.run();
    }

    /** Forgets what was read. Numbers that are not there yet are not acknowledged. */
    public void acknowledge(long sequence) {
        lock.lock();
        try {
            acknowledged = Math.max(acknowledged, Math.min(sequence, next - 1));
            while (first <= sequence && first < next) {
                ring[slot(first)] = null;
                first++;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Who is told, on the adding thread, that there is more; replaces whoever was told before. */
    public void wakes(Runnable reader) {
        lock.lock();
        try {
            wake = reader;
        } finally {
            lock.unlock();
        }
    }

    /** What comes after a number: a record, a gap when some were dropped, or nothing yet. */
    public @Nullable Event after(long sequence) {
        lock.lock();
        try {
            if (sequence + 1 < first && sequence + 1 < next) {
                return Event.newBuilder()
                        .setIncarnation(incarnation)
                        .setSequence(first - 1)
                        .setTimeMillis(System.currentTimeMillis())
                        .setGap(Gap.newBuilder().setRecords(first - 1 - sequence))
                        .build();
            }
            return sequence + 1 < next ? ring[slot(sequence + 1)] : null;
        } finally {
            lock.unlock();
        }
    }

    /** Where a new reader begins. */
    public long acknowledged() {
        lock.lock();
        try {
            return acknowledged;
        } finally {
            lock.unlock();
        }
    }

    public int size() {
        lock.lock();
        try {
            return (int) (next - first);
        } finally {
            lock.unlock();
        }
    }

    public long dropped() {
        lock.lock();
        try {
            return dropped;
        } finally {
            lock.unlock();
        }
    }

    private int slot(long sequence) {
        return (int) (sequence % ring.length);
    }
}
