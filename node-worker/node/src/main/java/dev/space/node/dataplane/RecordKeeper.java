package dev.space.node.dataplane;

import dev.space.node.Pause;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the records of one sandbox's processes a little later than they change, many at once. A
 * short command so costs one small file instead of two and a rename over a file just written, for
 * which btrfs starts to write back at once: that took as much time as the command itself. Nothing
 * is lost by it: what has no record yet is known to the guest.
 */
final class RecordKeeper implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(RecordKeeper.class);
    private static final Duration LATER = Duration.ofMillis(500);

    private final Consumer<SandboxProcess> kept;
    private final ReentrantLock lock = new ReentrantLock();

    /** Held while records are written, so that a flush ends after what was being written. */
    private final ReentrantLock writing = new ReentrantLock();

    private final Set<SandboxProcess> changed = new LinkedHashSet<>();
    private boolean waiting;
    private volatile boolean closed;

    /**
     * @param kept told of each process whose end is on disk
     */
    RecordKeeper(Consumer<SandboxProcess> kept) {
        this.kept = kept;
    }

    void add(SandboxProcess process) {
        lock.lock();
        try {
            changed.add(process);
            if (!waiting && !closed) {
                waiting = true;
                Thread.ofVirtual().name("records").start(this::writeLater);
            }
        } finally {
            lock.unlock();
        }
    }

    private void writeLater() {
        try {
            Pause.of(LATER);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        lock.lock();
        try {
            waiting = false;
        } finally {
            lock.unlock();
        }
        flush();
    }

    /** Writes now what has changed, for instance before the records are cloned into a snapshot. */
    void flush() {
        writing.lock();
        try {
            take().forEach(this::write);
        } finally {
            writing.unlock();
        }
    }

    private List<SandboxProcess> take() {
        lock.lock();
        try {
            List<SandboxProcess> all = List.copyOf(changed);
            changed.clear();
            return all;
        } finally {
            lock.unlock();
        }
    }

    private void write(SandboxProcess process) {
        try {
            if (process.flush()) {
                kept.accept(process);
            }
        } catch (UncheckedIOException e) {
            // A full disk, for instance: the guest keeps the result until it is written.
            LOG.debug("the record of process {} is not written yet", process.id(), e);
            if (!closed) {
                add(process);
            }
        }
    }

    @Override
    public void close() {
        closed = true;
    }
}
