package dev.space.node.sandbox;

import dev.space.contract.node.StepRef;
import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.node.volumes.Volume;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One session on this node: its lock, its journal, and the sandbox while one runs. */
final class Session {

    private final SessionId id;
    private final Volume volume;
    private final ReentrantLock lock = new ReentrantLock(true);
    private final AtomicReference<Fence> announced;
    private @Nullable Journal journal;
    private SessionRecord saved;
    private volatile SessionRecord record;
    private volatile @Nullable Sandbox sandbox;
    private volatile boolean closed;
    private volatile boolean transferring;

    Session(SessionId id, Volume volume, @Nullable Journal journal, Fence floor) {
        this.id = id;
        this.volume = volume;
        this.journal = journal;
        this.saved = journal == null ? SessionRecord.EMPTY : journal.last();
        this.record = saved.seen(floor);
        this.announced = new AtomicReference<>(record.highest());
    }

    SessionId id() {
        return id;
    }

    Path directory() {
        return volume.session(id);
    }

    Path live() {
        return directory().resolve("live");
    }

    SessionRecord record() {
        return record;
    }

    @Nullable Sandbox sandbox() {
        return sandbox;
    }

    void setSandbox(@Nullable Sandbox next) {
        sandbox = next;
    }

    /** A step is at work that may take long. */
    boolean isTransferring() {
        return transferring;
    }

    void transferring(boolean yes) {
        transferring = yes;
    }

    boolean isClosed() {
        return closed;
    }

    /**
     * Runs a step alone in its session, or refuses it as stale. The step saves before it touches a
     * VM; a fence that only refused steps brought is saved at the end.
     */
    <T extends @Nullable Object> T fenced(StepRef ref, Supplier<T> step) {
        announced.accumulateAndGet(ref.fence(), Session::higher);
        return alone(() -> {
            if (closed) {
                throw new SessionClosedException();
            }
            requireCurrent(ref.fence());
            record = record.seen(ref.fence());
            try {
                return step.get();
            } finally {
                if (!closed && !record.equals(saved)) {
                    save(record);
                }
            }
        });
    }

    <T extends @Nullable Object> T alone(Supplier<T> body) {
        lock.lock();
        try {
            return body.get();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Runs the body if nobody is at work on the session or waits to be; empty otherwise. For what
     * the node does by itself and can do later as well.
     */
    <T> Optional<T> whenIdle(Supplier<Optional<T>> body) {
        if (lock.hasQueuedThreads() || !lock.tryLock()) {
            return Optional.empty();
        }
        try {
            return closed ? Optional.empty() : body.get();
        } finally {
            lock.unlock();
        }
    }

    private void requireCurrent(Fence fence) {
        if (fence.isStaleAgainst(record.highest())) {
            throw stale(fence, record.highest());
        }
    }

    /** True when a higher fence waits for the lock, or had it. */
    boolean isOvertaken(Fence own) {
        return own.isStaleAgainst(announced.get());
    }

    /** Ends a long step early when a higher fence waits for the lock. */
    void yieldTo(Fence own) {
        Fence highest = announced.get();
        if (own.isStaleAgainst(highest)) {
            throw stale(own, highest);
        }
    }

    private static SpaceException stale(Fence fence, Fence highest) {
        return new SpaceException(
                ErrorCode.STALE_FENCE, "fence " + fence + " is lower than " + highest);
    }

    private static Fence higher(Fence a, Fence b) {
        return a.compareTo(b) >= 0 ? a : b;
    }

    /** Makes the record durable before anything that depends on it happens. */
    void save(SessionRecord next) {
        try {
            Journal open = journal;
            if (open == null) {
                volume.makeDirectory(directory());
                journal = Journal.create(directory(), next);
            } else {
                open.append(next);
            }
        } catch (IOException e) {
            throw volume.failed("write the journal of " + id, e);
        }
        saved = next;
        record = next;
    }

    /** Lets go of the files; a later call opens the session again. */
    void close() {
        closed = true;
        Journal open = journal;
        if (open != null) {
            open.close();
        }
    }
}
