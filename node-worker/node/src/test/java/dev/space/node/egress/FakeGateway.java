package dev.space.node.egress;

import dev.space.model.SessionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A gateway in memory that can be killed, be started anew, hang, and lose its answer. */
final class FakeGateway implements Gateway {

    final List<String> calls = new ArrayList<>();
    private final Map<Integer, Binding> bindings = new TreeMap<>();
    private final Map<Integer, List<SyntheticAddress>> tables = new TreeMap<>();
    private LinkedBlockingQueue<java.util.Optional<EgressRecord>> events =
            new LinkedBlockingQueue<>();
    private boolean up = true;
    private boolean losesAnswers;
    private long delayMillis;

    synchronized void kill() {
        up = false;
        bindings.clear();
        events.add(java.util.Optional.empty());
    }

    synchronized void startAnew() {
        up = true;
        events = new LinkedBlockingQueue<>();
    }

    /** With a binding that it has before anybody can connect. */
    synchronized void startAnewWith(Binding stranger) {
        startAnew();
        bindings.put(stranger.slot(), stranger);
    }

    synchronized void losesAnswers(boolean yes) {
        losesAnswers = yes;
    }

    synchronized void slow(long millis) {
        delayMillis = millis;
    }

    synchronized @Nullable Binding binding(int slot) {
        return bindings.get(slot);
    }

    synchronized void tell(EgressRecord entry) {
        events.add(java.util.Optional.of(entry));
    }

    synchronized void handsOut(int slot, SyntheticAddress address) {
        tables.computeIfAbsent(slot, _ -> new ArrayList<>()).add(address);
    }

    private void called(String call) {
        long until = System.nanoTime() + delayMillis * 1_000_000;
        while (System.nanoTime() < until) {
            LockSupport.parkNanos(until - System.nanoTime());
        }
        if (!up) {
            throw new IllegalStateException("the gateway is away");
        }
        calls.add(call);
    }

    @Override
    public synchronized void bind(Binding binding) {
        called("bind " + binding.slot() + " v" + binding.policy().version());
        Binding before = bindings.get(binding.slot());
        if (before != null && !before.session().equals(binding.session())) {
            throw new IllegalStateException("another session is bound");
        }
        bindings.put(binding.slot(), binding);
        tables.put(binding.slot(), new ArrayList<>(binding.addresses()));
        if (losesAnswers) {
            throw new IllegalStateException("the answer is lost");
        }
    }

    @Override
    public synchronized List<SyntheticAddress> unbind(int slot, SessionId session, long epoch) {
        called("unbind " + slot);
        bindings.remove(slot);
        List<SyntheticAddress> table = tables.remove(slot);
        return table == null ? List.of() : table;
    }

    @Override
    public synchronized List<Bound> list() {
        called("list");
        return bindings.values().stream()
                .map(b -> new Bound(b.slot(), b.session(), b.epoch(), b.policy().version()))
                .toList();
    }

    @Override
    public synchronized List<SyntheticAddress> addresses(int slot) {
        called("addresses " + slot);
        return List.copyOf(tables.getOrDefault(slot, List.of()));
    }

    @Override
    public void follow(Events to) {
        // First the stream, then the word of it: a kill in between ends this stream too.
        LinkedBlockingQueue<java.util.Optional<EgressRecord>> now;
        synchronized (this) {
            now = events;
        }
        to.connected();
        try {
            while (true) {
                java.util.Optional<EgressRecord> next = now.take();
                if (next.isEmpty()) {
                    throw new IllegalStateException("the gateway is away");
                }
                to.audit(next.get());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {}
}
