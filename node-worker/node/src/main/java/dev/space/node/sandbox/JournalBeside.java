package dev.space.node.sandbox;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes that a sandbox starts into its session's journal while the step goes on. The step, which
 * has the session's lock, touches neither journal nor record before the write has ended, and ends
 * no sooner.
 */
final class JournalBeside implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(JournalBeside.class);

    private final Session session;
    private final FutureTask<Boolean> write;

    private JournalBeside(Session session, FutureTask<Boolean> write) {
        this.session = session;
        this.write = write;
    }

    static JournalBeside begin(Session session, LiveVm live) {
        SessionRecord next = session.record().withLive(live);
        FutureTask<Boolean> write =
                new FutureTask<>(() -> {
                    session.save(next);
                    return true;
                });
        Thread.ofVirtual().name("journal").start(write);
        return new JournalBeside(session, write);
    }

    /** Returns when the record is on the disk; fails as {@link Session#save}. */
    void await() {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    var _ = write.get();
                    return;
                } catch (InterruptedException e) {
                    interrupted = true; // a write to a disk ends by itself
                } catch (ExecutionException e) {
                    if (e.getCause() instanceof RuntimeException failure) {
                        throw failure;
                    }
                    throw new IllegalStateException(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void close() {
        try {
            await();
        } catch (RuntimeException e) {
            LOG.debug("the start of {} failed, and so did its record", session.id(), e);
        }
    }
}
