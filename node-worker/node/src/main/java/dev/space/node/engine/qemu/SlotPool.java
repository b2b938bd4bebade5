package dev.space.node.engine.qemu;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.Slot;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The slots of this node. A few are made ahead, since making one costs tens of milliseconds. One
 * that could not be released is owed: it is tried again before the pool says that it is empty.
 */
final class SlotPool implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SlotPool.class);

    private static final int READY = 2;

    private final VmmLauncher launcher;
    private final int count;
    private final TreeSet<Integer> free = new TreeSet<>();
    private final ArrayDeque<Slot> ready = new ArrayDeque<>();
    private final Set<Integer> owed = new HashSet<>();
    private boolean refilling;
    private boolean closed;

    SlotPool(VmmLauncher launcher, int count) {
        this.launcher = launcher;
        this.count = count;
        for (int i = 0; i < count; i++) {
            free.add(i);
        }
    }

    int size() {
        return count;
    }

    synchronized int free() {
        return free.size() + ready.size();
    }

    Slot acquire() {
        Slot made = takeReady();
        if (made == null) {
            payOwed();
            made = make();
        }
        refill();
        if (made == null) {
            throw new SpaceException(
                    ErrorCode.NO_CAPACITY, "all " + count + " slots of the node are taken");
        }
        return made;
    }

    private synchronized @Nullable Slot takeReady() {
        return ready.pollFirst();
    }

    /** Null when none is free. */
    private @Nullable Slot make() {
        Integer number;
        synchronized (this) {
            number = free.pollFirst();
        }
        if (number == null) {
            return null;
        }
        try {
            return new Slot(number, launcher.ensureSlot(number));
        } catch (RuntimeException e) {
            synchronized (this) {
                owed.add(number);
            }
            throw e;
        }
    }

    private void refill() {
        synchronized (this) {
            if (refilling || closed || ready.size() >= READY || free.isEmpty()) {
                return;
            }
            refilling = true;
        }
        Thread.ofVirtual().name("slots").start(this::refillNow);
    }

    private void refillNow() {
        try {
            while (wantsMore()) {
                Slot slot = make();
                if (slot == null) {
                    return;
                }
                synchronized (this) {
                    ready.addLast(slot);
                }
            }
        } catch (RuntimeException e) {
            LOG.warn("no slot is made ahead", e);
        } finally {
            synchronized (this) {
                refilling = false;
            }
        }
    }

    private synchronized boolean wantsMore() {
        return !closed && ready.size() < READY && !free.isEmpty();
    }

    /** Ends what runs in it, which must succeed, and gives it back, which may be owed. */
    void release(Slot slot) {
        launcher.kill(slot.number());
        giveBack(slot.number());
    }

    private void giveBack(int number) {
        try {
            launcher.release(number);
            synchronized (this) {
                owed.remove(number);
                free.add(number);
            }
        } catch (RuntimeException e) {
            LOG.warn("slot {} is not used again before it can be released", number, e);
            synchronized (this) {
                owed.add(number);
            }
        }
    }

    private void payOwed() {
        Collection<Integer> all;
        synchronized (this) {
            all = Set.copyOf(owed);
        }
        for (int number : all) {
            try {
                launcher.kill(number);
                giveBack(number);
            } catch (RuntimeException e) {
                LOG.warn("slot {} is still owed", number, e);
            }
        }
    }

    synchronized void adopt(Slot slot) {
        free.remove(slot.number());
    }

    /** Clears every slot of the machine that holds none of these. */
    void releaseAllBut(Collection<Integer> kept) {
        for (int number : launcher.occupied()) {
            if (!kept.contains(number)) {
                synchronized (this) {
                    free.remove(number);
                    owed.add(number);
                }
            }
        }
        payOwed();
        refill();
    }

    @Override
    public synchronized void close() {
        closed = true;
    }
}
