package dev.space.service.command;

import dev.space.model.OperationId;
import dev.space.model.OperationState;
import dev.space.store.ForkStore;
import dev.space.store.OperationRow;
import dev.space.store.RequestStore.IdempotencyKey;
import dev.space.store.RequestStore.Requested;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Forks from the API. The FORK's commit leaves one REQUESTED creation for each child; they are sent
 * from here at once, whether anybody waits or not, and by the reconciler where this process dies
 * before. How each ends is its own: a child that fails takes nothing from the others.
 */
@Singleton
public class ForkCommands {
    /** Children of one fork that are on their way at once: more would only wait for each other. */
    static final int SENT_AT_ONCE_MAX = 16;

    /** Longer than any fork; the reconciler takes over what would come after it. */
    private static final Duration FOLLOWED_MAX = Duration.ofMinutes(15);

    private static final Logger LOG = Logger.getLogger(ForkCommands.class);

    private final ForkStore forks;
    private final SessionCommands commands;
    private final Dispatcher dispatcher;
    private final OperationWaiter waiter;

    @Inject
    public ForkCommands(
            ForkStore forks,
            SessionCommands commands,
            Dispatcher dispatcher,
            OperationWaiter waiter) {
        this.forks = forks;
        this.commands = commands;
        this.dispatcher = dispatcher;
        this.waiter = waiter;
    }

    /** Answers when every child's creation has ended, either way, or the time is over. */
    public Requested fork(ForkStore.Fork fork, @Nullable IdempotencyKey key, Duration wait) {
        long until = System.nanoTime() + wait.toNanos();
        Requested requested = forks.request(fork, key);
        if (requested.answerBody() != null) {
            return requested;
        }
        if (requested.isNew()) {
            Thread.ofVirtual().name("fork").start(() -> follow(requested.operation()));
        }
        commands.sendAndWait(requested, wait);
        if (!wait.isZero()) {
            for (ForkStore.Made child : forks.children(requested.operation())) {
                long left = Math.max(0, until - System.nanoTime());
                var _ = waiter.await(child.create().id(), Duration.ofNanos(left));
            }
        }
        return requested;
    }

    private void follow(OperationId fork) {
        try {
            OperationRow row = waiter.await(fork, FOLLOWED_MAX).orElse(null);
            if (row != null && row.state() == OperationState.DONE) {
                sendChildren(fork);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException failure) {
            LOG.warnf("children of fork %s are left to the reconciler: %s", fork, failure);
        }
    }

    private void sendChildren(OperationId fork) throws InterruptedException {
        Semaphore slots = new Semaphore(SENT_AT_ONCE_MAX);
        for (ForkStore.Made child : forks.children(fork)) {
            if (child.create().state() != OperationState.REQUESTED) {
                continue;
            }
            slots.acquire();
            var _ =
                    dispatcher
                            .send(child.create(), child.session())
                            .whenComplete((answer, failure) -> {
                                slots.release();
                                if (failure != null) {
                                    LOG.warnf(
                                            "child %s is left to the reconciler: %s",
                                            child.session().id(), failure);
                                }
                            });
        }
    }
}
