package dev.space.node.templates;

import dev.space.durable.TransferCancelledException;
import dev.space.durable.TransferControl;
import dev.space.model.SpaceException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores this node's templates, one after the other and each once, so that nodes without them can
 * fetch them. It yields: while sessions are being started it stands still for as long as it may,
 * and it never works for more than half of the time.
 */
public final class TemplatePublisher {

    private static final Logger LOG = LoggerFactory.getLogger(TemplatePublisher.class);
    private static final Duration YIELD_MAX = Duration.ofSeconds(5);
    private static final Duration YIELD_LOOK = Duration.ofMillis(50);

    private final CacheTemplates templates;
    private final TemplateStore store;
    private final BooleanSupplier busy;
    private final Set<String> stored = new HashSet<>();
    private volatile boolean closed;

    /**
     * @param busy whether a session is being started
     */
    public TemplatePublisher(CacheTemplates templates, TemplateStore store, BooleanSupplier busy) {
        this.templates = templates;
        this.store = store;
        this.busy = busy;
    }

    /** One round; what fails is tried again by the next. */
    public void look() {
        for (TemplateSource.State state : templates.states()) {
            if (closed || !state.named() || stored.contains(state.digest())) {
                continue;
            }
            try {
                publish(state);
            } catch (TransferCancelledException e) {
                LOG.debug("template {} is stored later", state.name(), e);
            } catch (SpaceException e) {
                LOG.warn("template {} is not stored yet: {}", state.name(), e.getMessage());
            }
        }
    }

    private void publish(TemplateSource.State state) {
        if (store.find(state.digest()).isPresent()) {
            stored.add(state.digest());
            return;
        }
        final long begin = System.nanoTime();
        // False: another node is at it, and may yet leave it to this one.
        if (store.publish(
                state.digest(),
                state.name(),
                templates.describedRoot(state.digest()),
                new Yielding())) {
            stored.add(state.digest());
            LOG.info(
                    "template {} stored in {} ms",
                    state.name(),
                    (System.nanoTime() - begin) / 1_000_000);
        }
    }

    /** Ends what is under way at its next part; the next start goes on with it. */
    public void stop() {
        closed = true;
    }

    private final class Yielding implements TransferControl {

        private long workedSince = System.nanoTime();

        @Override
        public boolean cancelled() {
            return closed;
        }

        @Override
        public void progress(long done, long total) {
            long now = System.nanoTime();
            long until = now + YIELD_MAX.toNanos();
            LockSupport.parkNanos(Math.min(now - workedSince, YIELD_MAX.toNanos()));
            while (busy.getAsBoolean() && !closed && System.nanoTime() < until) {
                LockSupport.parkNanos(YIELD_LOOK.toNanos());
            }
            workedSince = System.nanoTime();
        }
    }
}
