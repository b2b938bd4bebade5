package dev.space.service.credential;

import dev.space.service.config.SpaceConfig;
import dev.space.store.VaultRemovals;
import dev.space.store.VaultRemovals.Removal;
import dev.space.vault.VaultFailure;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.scheduler.Scheduled;
import io.quarkus.scheduler.Scheduled.ConcurrentExecution;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jboss.logging.Logger;

/**
 * Rids the vault of what no row names any more: soon after the change, and again until it is done.
 * Whoever deletes a credential does not wait for the vault; nothing can use it from then on.
 */
@Singleton
public class VaultCleanup {
    private static final Logger LOG = Logger.getLogger(VaultCleanup.class);
    private static final int REMOVALS_MAX = 100;

    private final Optional<VaultStore> vault;
    private final VaultRemovals rows;
    private final SpaceConfig config;
    private final MeterRegistry metrics;
    private final AtomicBoolean running = new AtomicBoolean();

    @Inject
    public VaultCleanup(
            ChosenStore stores, VaultRemovals rows, SpaceConfig config, MeterRegistry metrics) {
        this.vault = stores.vault();
        this.rows = rows;
        this.config = config;
        this.metrics = metrics;
    }

    @Scheduled(
            every = "${space.control.reconcile-every:10s}",
            delayed = "5s",
            concurrentExecution = ConcurrentExecution.SKIP)
    @RunOnVirtualThread
    void run() {
        if (config.roles().contains("api") && vault.isPresent()) {
            clean(vault.get());
        }
    }

    /** Beside the caller, who does not wait. */
    public void soon() {
        if (vault.isPresent()) {
            Thread _ = Thread.ofVirtual().name("vault-cleanup").start(() -> clean(vault.get()));
        }
    }

    private void clean(VaultStore from) {
        if (!running.compareAndSet(false, true)) {
            return;
        }
        try {
            for (int i = 0; i < REMOVALS_MAX; i++) {
                if (rows.one(r -> removed(from, r)) != VaultRemovals.Turn.DONE) {
                    return;
                }
            }
        } catch (RuntimeException failure) {
            // The next turn tries again.
            metrics.counter("space_vault_removal_failures").increment();
            LOG.warnf("the vault cannot be cleaned up: %s", failure.toString());
        } finally {
            running.set(false);
        }
    }

    private boolean removed(VaultStore from, Removal removal) {
        try {
            from.remove(removal.path(), removal.below());
            return true;
        } catch (VaultFailure failure) {
            metrics.counter("space_vault_removal_failures").increment();
            LOG.warnf(
                    "%s stays in the vault until the next try: %s",
                    removal.path(), failure.getMessage());
            return false;
        }
    }
}
