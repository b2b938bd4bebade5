package dev.space.cli.command;

import dev.space.cli.platform.Pause;
import dev.space.client.ApiException;
import dev.space.client.CreateSession;
import dev.space.client.SpaceClient;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * The session of one `run`, destroyed at its end however that comes: by the command's, by a
 * failure, or by Ctrl-C, even while the session is still being created.
 */
final class OwnSession implements AutoCloseable {

    /** How long an interrupted `run` waits for its session to come to be and to be gone again. */
    private static final Duration INTERRUPTED_MAX = Duration.ofSeconds(60);

    /** Without a sign of life for so long the session goes: its `run` was killed, or cut off. */
    static final CreateSession.Idle LEFT_ALONE = new CreateSession.Idle(600, "destroy");

    /** A command may be silent and unasked for longer than that. */
    private static final Duration SIGN_EVERY = Duration.ofSeconds(60);

    private final SpaceClient client;
    private final boolean keep;
    private final Duration signEvery;
    private final CompletableFuture<String> created = new CompletableFuture<>();
    private final AtomicBoolean creating = new AtomicBoolean();
    private final AtomicBoolean over = new AtomicBoolean();
    private final Thread onInterrupt = new Thread(this::interrupted, "interrupted");
    private volatile boolean ending;

    OwnSession(SpaceClient client, boolean keep) {
        this(client, keep, SIGN_EVERY);
    }

    OwnSession(SpaceClient client, boolean keep, Duration signEvery) {
        this.client = client;
        this.keep = keep;
        this.signEvery = signEvery;
        Runtime.getRuntime().addShutdownHook(onInterrupt);
    }

    String create(CreateSession request) {
        return whileOwned(() -> {
            creating.set(true);
            try {
                String id = client.create(request).id();
                created.complete(id);
                if (keep) {
                    System.err.println(id);
                } else {
                    var _ = Thread.ofVirtual().name("sign-of-life").start(() -> signs(id));
                }
                return id;
            } catch (ApiException e) {
                found(e).ifPresentOrElse(created::complete, () -> created.completeExceptionally(e));
                throw e;
            }
        });
    }

    /** What comes from outside counts against {@link #LEFT_ALONE}; this costs next to nothing. */
    private void signs(String id) {
        while (true) {
            Pause.of(signEvery);
            if (over.get()) {
                return;
            }
            try {
                var _ = client.get("/v1/sessions/" + id + "/files/stat?path=/");
            } catch (ApiException _) {
                // The next one may arrive; the command's own calls tell what is wrong.
            }
        }
    }

    /** A session that is still being created is ours already, and must not stay. */
    private Optional<String> found(ApiException late) {
        if (!late.code().equals("TIMED_OUT") || late.operation() == null) {
            return Optional.empty();
        }
        try {
            String id = client.get("/v1/operations/" + late.operation()).path("session").asText();
            return id.isEmpty() ? Optional.empty() : Optional.of(id);
        } catch (ApiException e) {
            return Optional.empty();
        }
    }

    /** Runs a piece of work, whose failure means nothing once the session is being taken away. */
    <T> T whileOwned(Supplier<T> work) {
        try {
            return work.get();
        } catch (ApiException e) {
            while (ending) {
                LockSupport.park(this); // The JVM is ending; nobody waits for this thread.
            }
            throw e;
        }
    }

    @Override
    public void close() {
        if (over.compareAndSet(false, true) && created.isDone() && !keep) {
            try {
                if (!created.isCompletedExceptionally()) {
                    client.destroy(created.join());
                }
            } catch (ApiException e) {
                System.err.println(
                        "space: " + created.join() + " was not destroyed: " + e.getMessage());
            }
        }
    }

    private void interrupted() {
        if (!creating.get() || !over.compareAndSet(false, true)) {
            return;
        }
        ending = true;
        try {
            String id = created.get(INTERRUPTED_MAX.toSeconds(), TimeUnit.SECONDS);
            if (keep) {
                System.err.println("space: interrupted; session " + id + " is kept");
                return;
            }
            System.err.println("space: interrupted; destroying session " + id);
            CompletableFuture.runAsync(() -> client.destroy(id))
                    .get(INTERRUPTED_MAX.toSeconds(), TimeUnit.SECONDS);
            System.err.println("space: destroyed");
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            System.err.println("space: interrupted; " + cause.getMessage());
        } catch (TimeoutException e) {
            System.err.println(
                    "space: not done after "
                            + INTERRUPTED_MAX.toSeconds()
                            + " s; see `./space list` and `./space destroy ID`");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
