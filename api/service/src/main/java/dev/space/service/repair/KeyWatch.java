package dev.space.service.repair;

import dev.space.contract.session.KeyRevokedReport;
import dev.space.model.SpaceException;
import dev.space.service.command.SessionWorkflows;
import dev.space.service.config.SpaceConfig;
import dev.space.service.key.CustomerKeys;
import dev.space.service.key.LineageKeys;
import dev.space.store.CustomerKeyRows;
import dev.space.store.CustomerKeyRows.CustomerKey;
import dev.space.store.CustomerKeyRows.Running;
import dev.space.store.CustomerKeyRows.Seen;
import dev.space.store.CustomerKeyRows.State;
import dev.space.store.LineageRows;
import dev.space.store.RepairStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.scheduler.Scheduled;
import io.quarkus.scheduler.Scheduled.ConcurrentExecution;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import org.jboss.logging.Logger;

/**
 * Looks whether organisations' keys can still be used, ends what runs where one is revoked, and
 * wraps anew what is not protected as its organisation wants it. One instance at a time does it.
 */
@Singleton
public class KeyWatch {

    /** Keys of one turn; there is one for each organisation. */
    private static final int KEYS_MAX = 1_000;

    private static final int AT_ONCE_MAX = 8;

    /** Sandboxes that one turn ends; the next goes on. */
    private static final int ENDED_MAX = 500;

    /** Lineages that one turn wraps anew. */
    private static final int WRAPPED_MAX = 200;

    private static final long LOCK = 0x5bace_0003L;
    private static final Logger LOG = Logger.getLogger(KeyWatch.class);

    private final CustomerKeyRows rows;
    private final CustomerKeys keys;
    private final LineageRows lineages;
    private final LineageKeys lineageKeys;
    private final SessionWorkflows workflows;
    private final RepairStore turns;
    private final SpaceConfig config;
    private final MeterRegistry metrics;

    @Inject
    public KeyWatch(
            CustomerKeyRows rows,
            CustomerKeys keys,
            LineageRows lineages,
            LineageKeys lineageKeys,
            SessionWorkflows workflows,
            RepairStore turns,
            SpaceConfig config,
            MeterRegistry metrics) {
        this.rows = rows;
        this.keys = keys;
        this.lineages = lineages;
        this.lineageKeys = lineageKeys;
        this.workflows = workflows;
        this.turns = turns;
        this.config = config;
        this.metrics = metrics;
    }

    @Scheduled(
            every = "${space.control.key-watch-every:10s}",
            delayed = "5s",
            concurrentExecution = ConcurrentExecution.SKIP)
    @RunOnVirtualThread
    void run() {
        if (!config.roles().contains("api")) {
            return;
        }
        try {
            turns.withTurn(LOCK, this::lookAtAll);
            lineages.forgetUnused();
        } catch (RuntimeException failure) {
            failed("keys", failure);
        }
    }

    /** The next turn tries again. */
    private void failed(String what, RuntimeException failure) {
        metrics.counter("space_key_watch_failures").increment();
        LOG.warnf("%s not looked at: %s", what, failure.toString());
    }

    /** Side by side: a service that is slow must not keep another's revocation waiting. */
    private void lookAtAll() {
        ThreadFactory threads = Thread.ofVirtual().name("key-watch-", 0).factory();
        try (ExecutorService looks = Executors.newFixedThreadPool(AT_ONCE_MAX, threads)) {
            for (CustomerKey key : rows.all(KEYS_MAX)) {
                looks.execute(() -> lookSafely(key));
            }
        }
    }

    private void lookSafely(CustomerKey key) {
        try {
            look(key);
        } catch (RuntimeException failure) {
            failed("key " + key.id(), failure);
        }
    }

    private void look(CustomerKey key) {
        State state = state(key);
        if (state != key.state()) {
            LOG.warnf("key %s of organisation %s is %s", key.id(), key.name(), state);
        }
        if (key.current() && state == State.REVOKED) {
            end(key);
        }
        if (state == State.USABLE) {
            wrapAnew(key);
        }
    }

    private State state(CustomerKey key) {
        CustomerKeys.Look look = keys.look(key);
        if (look.seen() != Seen.USABLE) {
            metrics.counter("space_key_faults", "seen", look.seen().name()).increment();
        }
        return rows.seen(
                key.id(), look.seen(), look.detail(), config.control().keyUnreachableMax());
    }

    private void end(CustomerKey key) {
        for (Running running : rows.running(key.organisation(), ENDED_MAX)) {
            workflows.signal(
                    running.session(), "keyRevoked", new KeyRevokedReport(running.epoch()));
        }
    }

    private void wrapAnew(CustomerKey key) {
        for (String lineage : lineages.toWrap(key.organisation(), WRAPPED_MAX)) {
            try {
                lineageKeys.wrapAnew(lineage);
            } catch (SpaceException failure) {
                // It keeps the protection that it has; the others do not wait for it.
                metrics.counter("space_key_wrap_failures").increment();
                LOG.warnf("lineage %s: %s", lineage, failure.getMessage());
            }
        }
    }
}
