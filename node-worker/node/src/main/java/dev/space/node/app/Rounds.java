package dev.space.node.app;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Work that comes round by the clock. What fails is told and comes round again. */
final class Rounds implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Rounds.class);

    private final String name;
    private final Duration endMax;
    private final ScheduledExecutorService timer;

    /**
     * @param threads pieces of work that may run at once
     * @param endMax how long the end waits for work that has begun
     */
    Rounds(String name, int threads, Duration endMax) {
        this.name = name;
        this.endMax = endMax;
        this.timer =
                Executors.newScheduledThreadPool(
                        threads, Thread.ofPlatform().daemon().name(name + "-", 0).factory());
    }

    /** Begins after one period; the pause between two runs is the period. */
    void every(Duration period, Runnable work) {
        var _ =
                timer.scheduleWithFixedDelay(
                        () -> {
                            try {
                                work.run();
                            } catch (RuntimeException e) {
                                LOG.warn("{} goes on after a failure", name, e);
                            }
                        },
                        period.toMillis(),
                        period.toMillis(),
                        TimeUnit.MILLISECONDS);
    }

    /** Waits rather than interrupts: an interrupt would close a file under its writer. */
    @Override
    public void close() {
        timer.shutdown();
        try {
            if (!timer.awaitTermination(endMax.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.warn("{} is cut off; it did not end in {} ms", name, endMax.toMillis());
                timer.shutdownNow();
            }
        } catch (InterruptedException e) {
            timer.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
