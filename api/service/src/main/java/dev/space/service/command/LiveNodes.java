package dev.space.service.command;

import dev.space.model.SpaceException;
import dev.space.store.NodeStore;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jboss.logging.Logger;

/**
 * Lets a creation wait a moment for a node: one that has just started, or whose lease ran out
 * because the machine is busy, is there again within seconds, and a refusal would destroy the
 * session. Whatever it sees, the workflow decides.
 */
@Singleton
public class LiveNodes {
    /** Two renewals of a lease; longer than a node that is only slow is away. */
    static final Duration WAIT_MAX = Duration.ofSeconds(10);

    private static final Duration LOOK_EVERY = Duration.ofMillis(200);

    /** A node that was alive is not asked for again; shorter than any lease. */
    private static final Duration TRUST = Duration.ofSeconds(1);

    /** Templates that are remembered; beyond that all are asked for again. */
    private static final int TEMPLATES_MAX = 256;

    private static final Logger LOG = Logger.getLogger(LiveNodes.class);

    private final Predicate<String> isAlive;
    private final Duration waitMax;
    private final Map<String, Long> seenAtNanos = new ConcurrentHashMap<>();

    @Inject
    public LiveNodes(NodeStore nodes) {
        this(template -> nodes.aliveUntil(template).isPresent(), WAIT_MAX);
    }

    LiveNodes(Predicate<String> isAlive, Duration waitMax) {
        this.isAlive = isAlive;
        this.waitMax = waitMax;
    }

    /** Returns as soon as a node with the template is alive, else after the longest wait. */
    void await(String template) {
        Long seen = seenAtNanos.get(template);
        if (seen != null && System.nanoTime() - seen < TRUST.toNanos()) {
            return;
        }
        long began = System.nanoTime();
        try {
            while (!isOneAlive(template)) {
                if (System.nanoTime() - began > waitMax.toNanos()) {
                    LOG.infof("no node with template %s came within %s", template, waitMax);
                    return;
                }
                LockSupport.parkNanos(LOOK_EVERY.toNanos());
                if (Thread.currentThread().isInterrupted()) {
                    return;
                }
            }
        } catch (SpaceException databaseAway) {
            LOG.debug("whether a node is alive cannot be told", databaseAway);
        }
    }

    private boolean isOneAlive(String template) {
        if (!isAlive.test(template)) {
            return false;
        }
        if (seenAtNanos.size() >= TEMPLATES_MAX) {
            seenAtNanos.clear();
        }
        seenAtNanos.put(template, System.nanoTime());
        return true;
    }
}
