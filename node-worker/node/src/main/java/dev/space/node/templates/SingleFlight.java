package dev.space.node.templates;

import dev.space.model.SpaceException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** Work that is done once for all who ask for it meanwhile. What fails is told and forgotten. */
final class SingleFlight<V> {

    private final ConcurrentHashMap<String, CompletableFuture<V>> running =
            new ConcurrentHashMap<>();

    /**
     * The result of the work that runs under this key, else of this one.
     *
     * @param work looks first whether it has been done, between the caller's look and now
     */
    V get(String key, Supplier<V> work) {
        CompletableFuture<V> mine = new CompletableFuture<>();
        CompletableFuture<V> other = running.putIfAbsent(key, mine);
        if (other != null) {
            return join(other);
        }
        try {
            mine.complete(work.get());
        } catch (RuntimeException | Error e) {
            // Every waiter is told; the next caller tries anew.
            mine.completeExceptionally(e);
        } finally {
            running.remove(key, mine);
        }
        return join(mine);
    }

    private static <V> V join(CompletableFuture<V> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof SpaceException known) {
                throw new SpaceException(known.code(), String.valueOf(known.getMessage()), known);
            }
            throw e;
        }
    }
}
