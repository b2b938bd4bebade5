package dev.space.node.egress;

import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.node.Pause;
import dev.space.node.reports.ReportSink;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the gateway told. A session without a binding reaches nothing, so whatever fails here
 * closes a guest's network and nothing else; it is tried again until the gateway knows.
 */
public final class Egress implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Egress.class);

    /** What a start waits for its binding at most, from its beginning. */
    private static final Duration START_WAIT_MAX = Duration.ofMillis(200);

    private static final Duration RETRY = Duration.ofMillis(500);
    private static final Duration FOLLOW_AGAIN = Duration.ofMillis(200);

    private final @Nullable Gateway gateway;
    private final PolicySource source;
    private final EgressAudit audit;
    private final Map<SessionId, Entry> entries = new ConcurrentHashMap<>();
    private volatile boolean connected;
    private volatile boolean closed;
    private volatile @Nullable Thread follower;
    private volatile @Nullable Thread retrier;

    private Egress(@Nullable Gateway gateway, PolicySource source, ReportSink reports) {
        this.gateway = gateway;
        this.source = source;
        this.audit = new EgressAudit(reports, System::nanoTime);
    }

    /** A node without a gateway: its guests reach nothing. */
    public static Egress none() {
        return new Egress(null, PolicySource.NOBODY, (_, _) -> {});
    }

    /** Nothing is sent before {@link #start}. */
    public static Egress of(Gateway gateway, PolicySource source, ReportSink reports) {
        return new Egress(gateway, source, reports);
    }

    /** After adoption: from now on the gateway is followed and told again what it does not know. */
    public void start() {
        if (gateway != null) {
            follower = Thread.ofVirtual().name("gateway-events").start(() -> follow(gateway));
            retrier = Thread.ofVirtual().name("gateway-retries").start(this::retry);
        }
    }

    /** True while the gateway's events arrive. */
    public boolean isConnected() {
        return connected;
    }

    public int boundCount() {
        return (int) entries.values().stream().filter(Entry::isBound).count();
    }

    /** One start of a sandbox, which runs beside this. */
    @FunctionalInterface
    public interface Opening {

        /** The sandbox runs; waits for the binding, but not long. */
        void done(Path directory);
    }

    /**
     * Asks for the session's policy and binds the slot, which is the session's from here on, beside
     * the caller; {@link #closed} undoes it.
     *
     * @param known names that the guest knows by an address already
     * @param none the control plane has said that the session may reach nothing: an unbound slot
     *     does that, and nobody is asked
     */
    public Opening opening(
            SessionId session, long epoch, int slot, List<SyntheticAddress> known, boolean none) {
        Gateway to = gateway;
        if (to == null) {
            return _ -> {};
        }
        long deadline = System.nanoTime() + START_WAIT_MAX.toNanos();
        Entry entry = new Entry(session, epoch, slot, to, none ? NetworkPolicy.NONE : null, known);
        enter(entry);
        if (none) {
            return entry::keepIn;
        }
        CountDownLatch settled = new CountDownLatch(1);
        Thread _ =
                Thread.ofVirtual()
                        .name("bind")
                        .start(() -> {
                            try {
                                settle(entry);
                            } finally {
                                settled.countDown();
                            }
                        });
        return directory -> {
            await(settled, deadline);
            entry.keepIn(directory);
        };
    }

    private void enter(Entry entry) {
        Entry before = entries.put(entry.session(), entry);
        if (before != null) {
            before.close();
        }
    }

    private static void await(CountDownLatch latch, long deadline) {
        try {
            boolean _ = latch.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A sandbox that ran before this process did, with what it had then. */
    public void adopted(SessionId session, long epoch, int slot, Path directory) {
        Gateway to = gateway;
        if (to == null) {
            return;
        }
        NetworkFile kept = NetworkFile.read(directory, epoch);
        NetworkPolicy policy = kept == null ? null : kept.policy();
        List<SyntheticAddress> known = kept == null ? List.of() : kept.addresses();
        Entry entry = new Entry(session, epoch, slot, to, policy, known);
        entry.keepIn(directory);
        enter(entry);
        later(entry);
    }

    /** Before the slot is released: returns when the gateway has let go of it, or is away. */
    public void closed(SessionId session) {
        Entry entry = entries.remove(session);
        if (entry != null) {
            entry.close();
            audit.forget(session, entry.epoch());
        }
    }

    /** A change that the control plane pushes. */
    public void set(SessionId session, long epoch, NetworkPolicy policy) {
        if (gateway == null) {
            throw new SpaceException(
                    ErrorCode.NOT_AVAILABLE,
                    "the node has no gateway: its sandboxes reach nothing");
        }
        Entry entry = entries.get(session);
        if (entry == null || entry.epoch() != epoch) {
            throw new SpaceException(
                    ErrorCode.STALE_FENCE, "no sandbox of epoch " + epoch + " runs here");
        }
        entry.policy(policy);
        entry.settleNow();
    }

    /** The control plane's version, told with the lease: a newer one than is known is fetched. */
    public void newest(SessionId session, long version) {
        Entry entry = entries.get(session);
        if (entry != null && entry.isBehind(version)) {
            Thread _ = Thread.ofVirtual().name("policy").start(() -> fetch(entry));
        }
    }

    /** For a snapshot of what runs: the names that its guest may know by address. */
    public List<SyntheticAddress> addresses(SessionId session) {
        Entry entry = entries.get(session);
        return entry == null ? List.of() : entry.addresses();
    }

    private void settle(Entry entry) {
        if (entry.isPolicyUnknown()) {
            fetch(entry);
        } else {
            entry.settle();
        }
    }

    /** Without the control plane's word nothing is opened. */
    private void fetch(Entry entry) {
        try {
            entry.policy(source.of(entry.session()));
        } catch (RuntimeException e) {
            LOG.info("the policy of {} is not known yet: {}", entry.session(), e.toString());
            return;
        }
        entry.settle();
    }

    private void later(Entry entry) {
        Thread _ = Thread.ofVirtual().name("bind").start(() -> settle(entry));
    }

    private void retry() {
        while (pause(RETRY)) {
            for (Entry entry : entries.values()) {
                if (entry.isOwed()) {
                    settle(entry);
                }
            }
        }
    }

    private void follow(Gateway from) {
        Gateway.Events events =
                new Gateway.Events() {
                    @Override
                    public void connected() {
                        reconcile(from);
                        connected = true;
                    }

                    @Override
                    public void address(SessionId session, long epoch, SyntheticAddress address) {
                        Entry entry = entries.get(session);
                        if (entry != null && entry.epoch() == epoch) {
                            entry.learn(address);
                        }
                    }

                    @Override
                    public void audit(EgressRecord entry) {
                        audit.add(entry);
                    }
                };
        boolean told = false;
        do {
            try {
                from.follow(events);
                told = false;
            } catch (RuntimeException e) {
                if (!told && !closed) {
                    LOG.warn("the gateway is away; sandboxes have no network: {}", e.toString());
                }
                told = true;
            }
            connected = false;
        } while (pause(FOLLOW_AGAIN));
    }

    /** A gateway that was started anew knows nothing; one of before may know too much. */
    private void reconcile(Gateway with) {
        Map<SessionId, Gateway.Bound> bound = new HashMap<>();
        for (Gateway.Bound each : with.list()) {
            Entry entry = entries.get(each.session());
            if (entry == null || !entry.is(each)) {
                LOG.info("the gateway lets go of slot {} of {}", each.slot(), each.session());
                List<SyntheticAddress> _ = with.unbind(each.slot(), each.session(), each.epoch());
            } else {
                bound.put(each.session(), each);
            }
        }
        for (Entry entry : entries.values()) {
            Gateway.Bound known = bound.get(entry.session());
            entry.gatewayHas(known == null ? 0 : known.version());
            later(entry);
        }
        LOG.info("the gateway is there; it has {} of {}", bound.size(), entries.size());
    }

    private boolean pause(Duration time) {
        try {
            Pause.of(time);
        } catch (InterruptedException e) {
            return false;
        }
        return !closed;
    }

    /** Lets go without unbinding: sandboxes go on, and so do their connections. */
    @Override
    public void close() {
        closed = true;
        for (Thread thread : new Thread[] {follower, retrier}) {
            if (thread != null) {
                thread.interrupt();
            }
        }
        if (gateway != null) {
            gateway.close();
        }
    }
}
