package dev.space.node.pool;

import dev.space.node.engine.spi.VmHold;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets requests go first: nothing is begun to be made while they are at work. Holds the VM that is
 * being made ahead where it is while sessions are being started, and for a moment after, when their
 * first commands run: made under emulation, it would take a whole processor from them. Each VM is
 * held for a limited time in all, so that an endless row of requests gets something ready as well.
 */
final class Yielding implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Yielding.class);

    private final Duration quiet;
    private final Duration most;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** Had while the VM is held or let go, so that nothing is held that is made. */
    private final ReentrantLock acting = new ReentrantLock();

    private @Nullable VmHold making;
    private long leftNanos;
    private int requests;
    private long lastRequest;
    private boolean closed;

    /**
     * @param quiet how long after a request nothing is made
     * @param most how long one VM is held in all
     */
    Yielding(Duration quiet, Duration most) {
        this.quiet = quiet;
        this.most = most;
        this.lastRequest = System.nanoTime() - quiet.toNanos();
    }

    void start() {
        Thread.ofPlatform().daemon().name("pool-yield").start(this::run);
    }

    void requestBegins() {
        change(() -> requests++);
    }

    void requestEnds() {
        change(() -> {
            requests--;
            lastRequest = System.nanoTime();
        });
    }

    /** Waits until no session is being started, but not for ever; false at the end. */
    boolean awaitTurn() throws InterruptedException {
        lock.lock();
        try {
            long until = System.nanoTime() + most.toNanos();
            while (!closed) {
                long left = Math.min(until - System.nanoTime(), busyNanos());
                if (left <= 0) {
                    return true;
                }
                var _ = changed.awaitNanos(left);
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** From here on this VM is in the making; until the returned is closed, when it runs again. */
    Made making(VmHold vm) {
        change(() -> {
            making = vm;
            leftNanos = most.toNanos();
        });
        return () -> made(vm);
    }

    /** Ends the making. */
    interface Made extends AutoCloseable {
        @Override
        void close();
    }

    private void made(VmHold vm) {
        acting.lock();
        try {
            change(() -> making = null);
            vm.letGo();
        } catch (RuntimeException e) {
            LOG.warn("a VM that was made is still held", e);
        } finally {
            acting.unlock();
        }
    }

    private void change(Runnable what) {
        lock.lock();
        try {
            what.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        while (true) {
            VmHold vm = awaitReason();
            if (vm == null) {
                return;
            }
            if (act(vm, vm::hold)) {
                awaitQuiet(vm);
                var _ = act(vm, vm::letGo);
            }
        }
    }

    /** A VM that is in the way; null at the end. */
    private @Nullable VmHold awaitReason() {
        lock.lock();
        try {
            while (!closed) {
                if (making != null && leftNanos > 0 && busyNanos() > 0) {
                    return making;
                }
                changed.await();
            }
            return null;
        } catch (InterruptedException e) {
            return null;
        } finally {
            lock.unlock();
        }
    }

    private void awaitQuiet(VmHold vm) {
        lock.lock();
        try {
            while (!closed && making == vm && leftNanos > 0) {
                long busy = busyNanos();
                if (busy <= 0) {
                    return;
                }
                long began = System.nanoTime();
                var _ = changed.awaitNanos(Math.min(busy, leftNanos));
                leftNanos -= System.nanoTime() - began;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    /** Whether a request is at work, or was just now. */
    boolean isBusy() {
        lock.lock();
        try {
            return busyNanos() > 0;
        } finally {
            lock.unlock();
        }
    }

    /** How long it is surely not quiet yet. */
    private long busyNanos() {
        return requests > 0 ? Long.MAX_VALUE : lastRequest + quiet.toNanos() - System.nanoTime();
    }

    /** False when the VM is made already or could not be held. */
    private boolean act(VmHold vm, Runnable what) {
        acting.lock();
        try {
            if (!isMaking(vm)) {
                return false;
            }
            what.run();
            return true;
        } catch (RuntimeException e) {
            LOG.warn("a VM in the making could not be held or let go", e);
            giveUp();
            return false;
        } finally {
            acting.unlock();
        }
    }

    private boolean isMaking(VmHold vm) {
        lock.lock();
        try {
            return making == vm;
        } finally {
            lock.unlock();
        }
    }

    private void giveUp() {
        change(() -> leftNanos = 0);
    }

    @Override
    public void close() {
        change(() -> closed = true);
    }
}
