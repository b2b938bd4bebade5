package dev.space.node.pool;

import dev.space.model.Size;
import dev.space.node.engine.spi.Engine;
import dev.space.node.sandbox.LiveFiles;
import dev.space.node.sandbox.MemoryBudget;
import dev.space.node.sandbox.ReadyVms;
import dev.space.node.templates.StartFiles;
import dev.space.node.templates.TemplateSource;
import dev.space.node.volumes.Volume;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps VMs ready. One thread makes what is missing, one after the other, while no session is being
 * started, and ends what is of no use any more: made from a start snapshot that is not the current
 * one, or dead.
 */
public final class WarmPool implements ReadyVms, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(WarmPool.class);

    /** Requests often come in rows; what they need is not taken from them between two. */
    private static final Duration QUIET = Duration.ofMillis(300);

    /** An endless row of requests gets something ready now and then as well. */
    private static final Duration YIELD_MAX = Duration.ofSeconds(5);

    private static final Duration LOOK_EVERY = Duration.ofSeconds(5);
    private static final Duration AFTER_FAILURE = Duration.ofSeconds(10);
    private static final Duration CLOSE_MAX = Duration.ofSeconds(10);

    private final PoolSettings settings;
    private final TemplateSource templates;
    private final Engine engine;
    private final PoolMaker maker;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final List<Entry.Hot> hot = new ArrayList<>();
    private final List<Entry.Waiting> waiting = new ArrayList<>();
    private final PoolCounts counts = new PoolCounts();
    private final PoolDemand demand = new PoolDemand(System::nanoTime);
    private final Yielding yielding = new Yielding(QUIET, YIELD_MAX);
    private volatile int targets;
    private @Nullable Thread thread;
    private boolean due = true;
    private boolean closed;

    public WarmPool(
            PoolSettings settings,
            TemplateSource templates,
            Engine engine,
            Volume volume,
            LiveFiles files,
            MemoryBudget memory) {
        this.settings = settings;
        this.templates = templates;
        this.engine = engine;
        this.maker = new PoolMaker(engine, volume, files, memory, settings.memoryBytes(), yielding);
    }

    /** Begins to make VMs. Only after what ran before this process has been adopted or ended. */
    public void start() {
        if (settings.hot() == 0 && settings.prepared() == 0) {
            return;
        }
        Thread made = Thread.ofPlatform().daemon().name("pool").unstarted(this::run);
        thread = made;
        made.start();
        yielding.start();
    }

    // ------------------------------------------------------------ for sessions

    @Override
    public @Nullable Hot takeHot(String template, Size size, StartFiles start) {
        demand.created(new PoolDemand.Key(template, size));
        Entry.Kind kind = new Entry.Kind(template, size, start);
        Entry.Hot taken = take(hot, entry -> entry.kind().equals(kind));
        if (taken == null) {
            return null;
        }
        counts.tookHot();
        return new Hot(taken.record(), taken.workplace(), taken.files(), taken.token(), taken.vm());
    }

    @Override
    public @Nullable Waiting takeWaiting(String bundle, Size size) {
        Entry.Waiting taken =
                take(waiting, e -> e.record().size() == size && e.record().bundle().equals(bundle));
        if (taken == null) {
            return null;
        }
        counts.tookPrepared();
        return new Waiting(taken.record(), taken.workplace(), taken.files(), taken.vm());
    }

    private <E extends Entry> @Nullable E take(List<E> from, Predicate<E> fits) {
        lock.lock();
        try {
            Iterator<E> all = from.iterator();
            while (all.hasNext()) {
                E entry = all.next();
                if (entry.isAlive() && fits.test(entry)) {
                    all.remove();
                    wake();
                    return entry;
                }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean giveUpOne() {
        Entry entry;
        lock.lock();
        try {
            // One that waits for a snapshot is the cheaper to make again.
            if (!waiting.isEmpty()) {
                entry = waiting.removeLast();
            } else if (!hot.isEmpty()) {
                entry = hot.removeLast();
            } else {
                return false;
            }
        } finally {
            lock.unlock();
        }
        LOG.info("a VM of the pool is given up for a session");
        discard(entry);
        return true;
    }

    @Override
    public Busy busy() {
        yielding.requestBegins();
        return () -> {
            yielding.requestEnds();
            noticed();
        };
    }

    /** Whether a session is being started, or was just now. */
    public boolean isServing() {
        return yielding.isBusy();
    }

    // ------------------------------------------------------------ figures

    public int hotCount() {
        return count(hot);
    }

    public int preparedCount() {
        return count(waiting);
    }

    /** Hot VMs that there are to be. */
    public int targetCount() {
        return targets;
    }

    private int count(List<?> entries) {
        lock.lock();
        try {
            return entries.size();
        } finally {
            lock.unlock();
        }
    }

    public PoolCounts counts() {
        return counts;
    }

    // ------------------------------------------------------------ the thread

    private void wake() {
        due = true;
        changed.signalAll();
    }

    private void run() {
        while (awaitWork()) {
            try {
                discardUseless();
                while (mayMake() && makeOne()) {
                    LOG.debug("the pool has {} hot, {} prepared", hotCount(), preparedCount());
                }
            } catch (RuntimeException e) {
                LOG.warn("nothing is made ready for now", e);
                counts.failed();
                pauseAfterFailure();
            }
        }
    }

    /** False at the end. */
    private boolean awaitWork() {
        lock.lock();
        try {
            long left = LOOK_EVERY.toNanos();
            while (!closed && !due && left > 0) {
                left = changed.awaitNanos(left);
            }
            due = false;
            return !closed;
        } catch (InterruptedException e) {
            return false;
        } finally {
            lock.unlock();
        }
    }

    private boolean mayMake() {
        try {
            return yielding.awaitTurn();
        } catch (InterruptedException e) {
            return false;
        }
    }

    private void pauseAfterFailure() {
        lock.lock();
        try {
            long left = AFTER_FAILURE.toNanos();
            while (!closed && left > 0) {
                left = changed.awaitNanos(left);
            }
            due = true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    /** One of the kind that lacks most of what it is to have; false when nothing can be made. */
    private boolean makeOne() {
        if (engine.freeSlots() <= settings.slotsSpare()) {
            return false;
        }
        Map<Entry.Kind, Integer> wanted = wanted();
        Entry.Kind scarcest = null;
        double least = 1;
        for (Map.Entry<Entry.Kind, Integer> each : wanted.entrySet()) {
            int there = countOf(hot, e -> e.kind().equals(each.getKey()));
            if (there < least * each.getValue()) {
                scarcest = each.getKey();
                least = (double) there / each.getValue();
            }
        }
        if (scarcest != null) {
            Entry.Hot made = maker.hot(scarcest, templates.info(scarcest.template()));
            return made != null && keep(hot, made);
        }
        Set<Shape> shapes = new LinkedHashSet<>();
        kinds().forEach(kind -> shapes.add(new Shape(kind.start().bundle(), kind.size())));
        for (Shape shape : shapes) {
            if (countOf(waiting, shape::fits) < settings.prepared()) {
                Entry.Waiting made = maker.waiting(shape.bundle(), shape.size());
                return made != null && keep(waiting, made);
            }
        }
        return false;
    }

    /** What a VMM must be told before it starts. */
    private record Shape(String bundle, Size size) {
        boolean fits(Entry.Waiting entry) {
            return entry.record().size() == size && entry.record().bundle().equals(bundle);
        }
    }

    private <E extends Entry> int countOf(List<E> entries, Predicate<E> which) {
        lock.lock();
        try {
            return (int) entries.stream().filter(which).count();
        } finally {
            lock.unlock();
        }
    }

    /** The start snapshots that are there, of those that VMs are kept of. */
    private List<Entry.Kind> kinds() {
        List<Entry.Kind> kinds = new ArrayList<>();
        List<TemplateSource.State> states = templates.states();
        for (PoolSettings.Start wanted : settings.starts()) {
            for (TemplateSource.State state : states) {
                if (state.named()
                        && state.name().equals(wanted.template())
                        && state.ready().contains(wanted.size())) {
                    kinds.add(kind(state.digest(), wanted.size()));
                }
            }
        }
        return kinds;
    }

    /** How many hot VMs of each start snapshot there are to be. */
    private Map<Entry.Kind, Integer> wanted() {
        Map<Entry.Kind, Integer> wanted = new LinkedHashMap<>();
        List<Entry.Kind> always = kinds();
        if (settings.followsDemand()) {
            Map<PoolDemand.Key, Entry.Kind> known = new LinkedHashMap<>();
            always.forEach(
                    kind -> known.put(new PoolDemand.Key(kind.template(), kind.size()), kind));
            demand.targets(known.keySet(), room(always))
                    .forEach((key, number) -> {
                        Entry.Kind kind = known.get(key);
                        if (kind != null) {
                            wanted.put(kind, number);
                        } else if (templates.isReady(key.template(), key.size())) {
                            wanted.put(kind(key.template(), key.size()), number);
                        }
                    });
        } else {
            always.forEach(kind -> wanted.put(kind, settings.hot()));
        }
        targets = wanted.values().stream().mapToInt(Integer::intValue).sum();
        return wanted;
    }

    /** All that may wait, less what waits for a snapshot to load. */
    private PoolDemand.Room room(List<Entry.Kind> always) {
        Set<Size> sizes = new LinkedHashSet<>();
        always.forEach(kind -> sizes.add(kind.size()));
        long prepared = sizes.stream().mapToLong(MemoryBudget::bytes).sum() * settings.prepared();
        return new PoolDemand.Room(
                settings.memoryBytes() - prepared,
                engine.info().slots() - settings.slotsSpare() - sizes.size() * settings.prepared());
    }

    private Entry.Kind kind(String digest, Size size) {
        return new Entry.Kind(digest, size, templates.start(digest, size));
    }

    private <E extends Entry> boolean keep(List<E> entries, E made) {
        lock.lock();
        try {
            if (!closed) {
                entries.add(made);
                counts.made();
                var _ = made.exit().thenRun(this::noticed);
                return true;
            }
        } finally {
            lock.unlock();
        }
        discard(made);
        return false;
    }

    /** Something ended by itself: the thread looks what. */
    private void noticed() {
        lock.lock();
        try {
            wake();
        } finally {
            lock.unlock();
        }
    }

    private void discardUseless() {
        List<Entry.Kind> kinds = kinds();
        Map<Entry.Kind, Integer> left = wanted();
        List<Entry> useless = new ArrayList<>();
        lock.lock();
        try {
            // Beyond what there is to be the newest go.
            hot.stream()
                    .filter(e -> !e.isAlive() || left.merge(e.kind(), -1, Integer::sum) < 0)
                    .forEach(useless::add);
            waiting.stream()
                    .filter(e -> !e.isAlive() || kinds.stream().noneMatch(k -> serves(e, k)))
                    .forEach(useless::add);
            hot.removeIf(useless::contains);
            waiting.removeIf(useless::contains);
        } finally {
            lock.unlock();
        }
        useless.forEach(this::discard);
    }

    private static boolean serves(Entry.Waiting entry, Entry.Kind kind) {
        return new Shape(kind.start().bundle(), kind.size()).fits(entry);
    }

    private void discard(Entry entry) {
        counts.discarded();
        maker.discard(entry);
    }

    /** Ends everything: nothing that was made ahead outlives this process. */
    @Override
    public void close() {
        List<Entry> all = new ArrayList<>();
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
            all.addAll(hot);
            all.addAll(waiting);
            hot.clear();
            waiting.clear();
        } finally {
            lock.unlock();
        }
        yielding.close();
        all.forEach(this::discard);
        Thread running = thread;
        try {
            if (running != null && !running.join(CLOSE_MAX)) {
                LOG.warn("a VM is still being made; the next start of the node ends it");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
