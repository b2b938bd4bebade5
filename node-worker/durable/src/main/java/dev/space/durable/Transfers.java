package dev.space.durable;

import dev.space.model.SpaceException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The parts of one transfer that run beside each other. The first failure ends the others before
 * they begin, and {@link #await} returns only when none runs any more.
 */
final class Transfers {

    private static final long LOOK_AGAIN_NANOS = 1_000_000;

    private final ExecutorService executor;
    private final TransferControl control;
    private final List<Future<?>> running = new ArrayList<>();
    private volatile boolean failed;

    Transfers(ExecutorService executor, TransferControl control) {
        this.executor = executor;
        this.control = control;
    }

    static void checkCancelled(TransferControl control) {
        if (control.cancelled()) {
            throw new TransferCancelledException("the transfer");
        }
    }

    /** True when there is no use in going on. */
    boolean isOver() {
        return failed || control.cancelled();
    }

    void start(Runnable part) {
        running.removeIf(future -> future.state() == Future.State.SUCCESS);
        running.add(
                executor.submit(() -> {
                    boolean done = false;
                    try {
                        part.run();
                        done = true;
                    } finally {
                        failed |= !done;
                    }
                }));
    }

    /** Waits for all parts and throws what the first one that failed threw. */
    void await() {
        RuntimeException first = null;
        for (Future<?> future : running) {
            try {
                future.get();
            } catch (ExecutionException e) {
                first = first == null ? unwrapped(e.getCause()) : first;
            } catch (InterruptedException e) {
                // The parts write into what the caller will clean up: they are waited for.
                failed = true;
                first = first == null ? new TransferCancelledException("the transfer") : first;
                Thread.currentThread().interrupt();
                awaitUninterrupted(future);
            }
        }
        running.clear();
        if (first != null) {
            throw first;
        }
    }

    /** Lets nothing new begin and waits for what runs; how it ends is of no interest any more. */
    void drain() {
        failed = true;
        for (Future<?> future : running) {
            awaitUninterrupted(future);
        }
        running.clear();
    }

    private static void awaitUninterrupted(Future<?> future) {
        boolean interrupted = false;
        while (!future.isDone()) {
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static RuntimeException unwrapped(@Nullable Throwable cause) {
        return switch (cause) {
            case SpaceException known ->
                    new SpaceException(known.code(), String.valueOf(known.getMessage()), known);
            case RuntimeException other -> other;
            case null, default -> new IllegalStateException(cause);
        };
    }
}
