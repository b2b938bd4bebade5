package dev.space.node.egress;

import dev.space.model.SessionId;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One running sandbox's network: what should hold, and what the gateway was told. Its lock is held
 * while the gateway is called, so that calls keep their order; a closed one binds no more.
 */
final class Entry {

    private static final Logger LOG = LoggerFactory.getLogger(Entry.class);

    /** Names of one session; the gateway has a bound of its own, and the first ones stay. */
    static final int ADDRESSES_MAX = 8192;

    private final SessionId session;
    private final long epoch;
    private final int slot;
    private final Gateway gateway;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, String> addresses = new LinkedHashMap<>();
    private @Nullable NetworkPolicy policy;
    private volatile long toldVersion;

    /** A bind was sent, and may have arrived even when it seemed to fail. */
    private boolean asked;

    private volatile @Nullable Path directory;
    private boolean closed;

    Entry(
            SessionId session,
            long epoch,
            int slot,
            Gateway gateway,
            @Nullable NetworkPolicy policy,
            List<SyntheticAddress> known) {
        this.session = session;
        this.epoch = epoch;
        this.slot = slot;
        this.gateway = gateway;
        this.policy = policy;
        known.forEach(this::put);
    }

    SessionId session() {
        return session;
    }

    long epoch() {
        return epoch;
    }

    boolean isBound() {
        return toldVersion > 0;
    }

    boolean is(Gateway.Bound bound) {
        return bound.slot() == slot && bound.epoch() == epoch;
    }

    private void alone(Runnable body) {
        lock.lock();
        try {
            body.run();
        } finally {
            lock.unlock();
        }
    }

    private void put(SyntheticAddress known) {
        if (addresses.size() < ADDRESSES_MAX) {
            addresses.putIfAbsent(known.name(), known.address());
        }
    }

    /** An older one than is known is ignored. */
    void policy(NetworkPolicy next) {
        alone(() -> {
            if (policy == null || next.version() > policy.version()) {
                policy = next;
            }
        });
    }

    boolean isPolicyUnknown() {
        lock.lock();
        try {
            return policy == null;
        } finally {
            lock.unlock();
        }
    }

    boolean isBehind(long version) {
        lock.lock();
        try {
            return policy == null || policy.version() < version;
        } finally {
            lock.unlock();
        }
    }

    /** True when the gateway, or this process, does not know yet what should hold. */
    boolean isOwed() {
        lock.lock();
        try {
            return !closed && (policy == null || !isTold());
        } finally {
            lock.unlock();
        }
    }

    private boolean isTold() {
        return wanted() == toldVersion && (toldVersion > 0 || !asked);
    }

    private long wanted() {
        return policy == null || policy.isNone() ? 0 : policy.version();
    }

    /** What the gateway said that it has; 0: nothing. */
    void gatewayHas(long version) {
        alone(() -> {
            toldVersion = version;
            asked = version > 0;
        });
    }

    /** Tells the gateway what should hold; a failure is told later. */
    void settle() {
        try {
            settleNow();
        } catch (RuntimeException e) {
            LOG.info("the gateway was not told of {}: {}", session, e.toString());
        }
    }

    /** The same, but a failure is the caller's; it is tried again all the same. */
    void settleNow() {
        alone(() -> {
            NetworkPolicy now = policy;
            if (closed || now == null || isTold()) {
                return;
            }
            if (now.isNone()) {
                unbind();
            } else {
                asked = true;
                bind(new Gateway.Binding(slot, session, epoch, now, list()));
                toldVersion = now.version();
            }
            write();
        });
    }

    /** Whoever had the slot before, and could not be unbound then, is first unbound now. */
    private void bind(Gateway.Binding binding) {
        try {
            gateway.bind(binding);
        } catch (RuntimeException e) {
            if (!clearSlot()) {
                throw e;
            }
            gateway.bind(binding);
        }
    }

    private boolean clearSlot() {
        boolean cleared = false;
        for (Gateway.Bound other : gateway.list()) {
            if (other.slot() == slot && !other.session().equals(session)) {
                List<SyntheticAddress> _ = gateway.unbind(slot, other.session(), other.epoch());
                cleared = true;
            }
        }
        return cleared;
    }

    /** Where a restart of this process finds it. Waits for no call to the gateway. */
    void keepIn(Path place) {
        directory = place;
        Thread _ = Thread.ofVirtual().name("network-file").start(() -> alone(this::write));
    }

    private void write() {
        NetworkPolicy now = policy;
        Path place = directory;
        if (place == null || closed) {
            return;
        }
        if (now == null || now.isNone()) {
            NetworkFile.remove(place);
        } else {
            new NetworkFile(epoch, now, list()).write(place);
        }
    }

    void learn(SyntheticAddress address) {
        alone(() -> {
            put(address);
            write();
        });
    }

    /** As the gateway has them, or as far as it told them. */
    List<SyntheticAddress> addresses() {
        lock.lock();
        try {
            if (!closed && toldVersion > 0) {
                gateway.addresses(slot).forEach(this::put);
            }
        } catch (RuntimeException e) {
            LOG.info("the gateway does not tell the names of {}: {}", session, e.toString());
        } finally {
            lock.unlock();
        }
        return list();
    }

    private List<SyntheticAddress> list() {
        lock.lock();
        try {
            List<SyntheticAddress> all = new ArrayList<>();
            addresses.forEach((name, address) -> all.add(new SyntheticAddress(name, address)));
            return all;
        } finally {
            lock.unlock();
        }
    }

    /** Nothing is bound afterwards, as far as the gateway can be reached. */
    void close() {
        alone(() -> {
            closed = true;
            try {
                unbind();
            } catch (RuntimeException e) {
                // Its sockets are of a namespace that goes with the slot; reconciled later.
                LOG.warn("the gateway did not let go of {}: {}", session, e.toString());
            }
        });
    }

    private void unbind() {
        if (asked) {
            List<SyntheticAddress> _ = gateway.unbind(slot, session, epoch);
            toldVersion = 0;
            asked = false;
        }
    }
}
