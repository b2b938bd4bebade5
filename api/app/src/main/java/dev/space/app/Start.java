package dev.space.app;

import dev.space.model.Secret;
import dev.space.service.command.WorkflowsAhead;
import dev.space.service.config.SecretFiles;
import dev.space.service.config.SpaceConfig;
import dev.space.service.health.Warmth;
import dev.space.store.TenantStore;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/**
 * What happens once, after the beans exist: the first key, the search attributes, the workers, a
 * first call. It goes on until it succeeds, so that the process may start before its servers.
 */
@Singleton
public class Start {
    private static final int AGAIN_SECONDS = 1;
    private static final Logger LOG = Logger.getLogger(Start.class);

    private final SpaceConfig config;
    private final TenantStore tenants;
    private final Workers workers;
    private final Warmth warmth;
    private final WorkflowsAhead ahead;
    private final CountDownLatch stopped = new CountDownLatch(1);

    @Inject
    public Start(
            SpaceConfig config,
            TenantStore tenants,
            Workers workers,
            Warmth warmth,
            WorkflowsAhead ahead) {
        this.config = config;
        this.tenants = tenants;
        this.workers = workers;
        this.warmth = warmth;
        this.ahead = ahead;
    }

    void start(@Observes StartupEvent event) {
        Thread.ofVirtual().name("start").start(this::run);
    }

    void stop(@Observes ShutdownEvent event) throws InterruptedException {
        stopped.countDown();
        ahead.close();
        workers.stop();
    }

    private void run() {
        while (stopped.getCount() > 0) {
            try {
                bootstrap();
                workers.registerSearchAttributes();
                if (config.roles().contains("worker")) {
                    workers.start();
                }
                warmth.warmUp();
                ahead.open();
                LOG.info("the control plane is ready");
                return;
            } catch (RuntimeException failure) {
                LOG.warnf("not ready yet: %s; trying again", failure);
                pause();
            }
        }
    }

    private void bootstrap() {
        config.control()
                .bootstrapKeyFile()
                .ifPresent(file -> {
                    try (Secret key = SecretFiles.read("bootstrap key", file)) {
                        tenants.bootstrap(TenantStore.hash(key.text()));
                    }
                });
    }

    private void pause() {
        try {
            var _ = stopped.await(AGAIN_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }
}
