package dev.space.gateway.slot;

import dev.space.gateway.events.Audits;
import dev.space.gateway.events.EventQueue;
import dev.space.gateway.events.Totals;
import dev.space.gateway.net.Upstream;
import dev.space.gatewayapi.v1.Counters;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Which slot speaks for whom. Calls about one slot are one after the other; a call that was delayed
 * changes nothing, because epoch and policy version of a session only grow, and another session
 * comes only after an unbinding.
 */
public final class SlotTable implements AutoCloseable {

    /** Slots of one node, as node-manager counts them. */
    public static final int SLOTS_MAX = 1024;

    private final EventLoopGroup loops;
    private final SocketSource sockets;
    private final Settings settings;
    private final Upstream upstream;
    private final EventQueue events;
    private final Totals totals;
    private final Map<Integer, Entry> entries = new ConcurrentHashMap<>();

    /** One slot's state, behind its lock. */
    private static final class Entry {
        final ReentrantLock lock = new ReentrantLock();
        @Nullable Binding binding;
        @Nullable OpenSlot open;

        /** The session that left last, and the highest epoch that it had here. */
        String leftSession = "";

        long leftEpoch;
    }

    /** What an unbinding leaves. */
    public record Drained(Map<String, Integer> names, Counters counters) {}

    /** Nothing is bound. */
    public SlotTable(
            EventLoopGroup loops,
            SocketSource sockets,
            Settings settings,
            Upstream upstream,
            EventQueue events,
            Totals totals) {
        this.loops = loops;
        this.sockets = sockets;
        this.settings = settings;
        this.upstream = upstream;
        this.events = events;
        this.totals = totals;
    }

    /** Gives the slot a session, or its session another policy. */
    public void bind(Binding wanted) {
        Entry entry = entry(wanted.slot());
        locked(
                entry,
                () -> {
                    checkFence(entry, wanted);
                    Binding now = entry.binding;
                    OpenSlot open = entry.open;
                    if (now != null
                            && open != null
                            && open.isOpen()
                            && now.epoch() == wanted.epoch()) {
                        boolean _ = open.call(b -> apply(b, wanted));
                    } else {
                        reopen(entry, wanted);
                    }
                    entry.binding = wanted;
                    return true;
                });
    }

    private static boolean apply(BoundSlot slot, Binding binding) {
        slot.apply(binding);
        return true;
    }

    private static void checkFence(Entry entry, Binding wanted) {
        Binding now = entry.binding;
        if (now == null) {
            if (entry.leftSession.equals(wanted.session()) && wanted.epoch() <= entry.leftEpoch) {
                throw stale("it was unbound at epoch " + entry.leftEpoch);
            }
        } else if (!now.session().equals(wanted.session())) {
            throw stale("it is bound to " + now.session() + ", which must be unbound first");
        } else if (wanted.epoch() < now.epoch()
                || (wanted.epoch() == now.epoch()
                        && wanted.policyVersion() < now.policyVersion())) {
            throw stale(
                    "it is bound at epoch "
                            + now.epoch()
                            + " with policy version "
                            + now.policyVersion());
        }
    }

    private static SpaceException stale(String why) {
        return new SpaceException(ErrorCode.STALE_FENCE, "the slot's call is too old: " + why);
    }

    /** Another sandbox: nothing of the former one's may be left when it begins. */
    private void reopen(Entry entry, Binding wanted) {
        Map<String, Integer> former = drain(entry).names();
        BoundSlot bound =
                new BoundSlot(
                        settings,
                        totals,
                        upstream,
                        new Audits(events, wanted.session(), wanted.epoch()),
                        wanted.session());
        SocketSource.Sockets issued;
        try {
            issued = sockets.issue(wanted.slot());
        } catch (IOException e) {
            throw new SpaceException(
                    ErrorCode.UNAVAILABLE,
                    "slot " + wanted.slot() + " has no sockets: " + e.getMessage(),
                    e);
        }
        bound.apply(wanted);
        bound.remember(former);
        entry.open = OpenSlot.open(loops.next(), bound, issued);
    }

    /** Closes the slot's sockets and connections; nothing to do where it is not bound. */
    public Drained unbind(int slot, String session, long epoch) {
        Entry entry = entry(slot);
        return locked(
                entry,
                () -> {
                    Binding now = entry.binding;
                    if (now != null && (!now.session().equals(session) || epoch < now.epoch())) {
                        throw stale("it is bound to " + now.session() + " at " + now.epoch());
                    }
                    Drained drained = drain(entry);
                    entry.leftEpoch =
                            entry.leftSession.equals(session)
                                    ? Math.max(entry.leftEpoch, epoch)
                                    : epoch;
                    entry.leftSession = session;
                    return drained;
                });
    }

    private static Drained drain(Entry entry) {
        OpenSlot open = entry.open;
        entry.open = null;
        entry.binding = null;
        if (open == null) {
            return new Drained(Map.of(), Counters.getDefaultInstance());
        }
        open.close();
        return open.call(b -> new Drained(b.names(), b.counters()));
    }

    /** What is bound now. */
    public List<Binding> list() {
        List<Binding> bound = new ArrayList<>();
        for (Entry entry : entries.values()) {
            Binding binding = locked(entry, () -> entry.binding);
            if (binding != null) {
                bound.add(binding);
            }
        }
        return bound;
    }

    /** The slot's synthetic addresses now. */
    public Map<String, Integer> names(int slot) {
        Entry entry = entry(slot);
        return locked(
                entry,
                () -> {
                    OpenSlot open = entry.open;
                    if (open == null) {
                        throw new SpaceException(
                                ErrorCode.NOT_FOUND, "slot " + slot + " is not bound");
                    }
                    return open.call(BoundSlot::names);
                });
    }

    private Entry entry(int slot) {
        if (slot < 0 || slot >= SLOTS_MAX) {
            throw new SpaceException(
                    ErrorCode.INVALID_ARGUMENT, "a slot is a number below " + SLOTS_MAX);
        }
        return entries.computeIfAbsent(slot, _ -> new Entry());
    }

    private static <T extends @Nullable Object> T locked(Entry entry, Supplier<T> task) {
        entry.lock.lock();
        try {
            return task.get();
        } finally {
            entry.lock.unlock();
        }
    }

    /** Ends everything. */
    @Override
    public void close() {
        entries.values().forEach(e -> locked(e, () -> drain(e)));
    }
}
