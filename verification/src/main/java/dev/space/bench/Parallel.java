package dev.space.bench;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Runs one thing many times, some at once, and counts what succeeds. */
final class Parallel {

    /**
     * One run.
     *
     * <p>The measured part is what {@link #run} returns, so that clean-up can be left out of it.
     */
    interface Run {
        Duration run(int index) throws Exception;
    }

    private final AtomicReference<@Nullable Exception> first = new AtomicReference<>();

    /** Runs it {@code n} times, {@code atOnce} at a time; a failed run adds no sample. */
    Duration measure(int n, int atOnce, Samples into, Run run) throws InterruptedException {
        long began = System.nanoTime();
        if (atOnce == 1) {
            for (int i = 0; i < n; i++) {
                once(i, into, run);
            }
            return Duration.ofNanos(System.nanoTime() - began);
        }
        Semaphore room = new Semaphore(atOnce);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < n; i++) {
                int index = i;
                room.acquire();
                var _ =
                        threads.submit(() -> {
                            try {
                                once(index, into, run);
                            } finally {
                                room.release();
                            }
                        });
            }
        }
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private void once(int index, Samples into, Run run) {
        try {
            into.add(run.run(index));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            first.compareAndSet(null, e);
        } catch (Exception e) {
            first.compareAndSet(null, e);
        }
    }

    /** Tells why the first failed run failed, on standard error; it is not hidden in a count. */
    void tell(String what) {
        Exception failure = first.get();
        if (failure != null) {
            System.err.println("bench: a run of " + what + " failed: " + failure);
        }
    }
}
