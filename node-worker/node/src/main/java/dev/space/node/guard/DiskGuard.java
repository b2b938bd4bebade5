package dev.space.node.guard;

import dev.space.node.reports.ReportSink;
import dev.space.nodeapi.v1.Report;
import dev.space.nodeapi.v1.SandboxHeld;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the free space again and again. When it runs out, the sandboxes that use it up are held,
 * and the control plane is told, which pauses them: a paused one writes nothing and loses nothing.
 */
public final class DiskGuard {

    private static final Logger LOG = LoggerFactory.getLogger(DiskGuard.class);

    /** Less is what any guest writes by itself. */
    static final long GROWTH_MIN_BYTES = 8L << 20;

    /** Below the hold line: another one is held each time this much more is gone. */
    static final long STEP_BYTES = 16L << 20;

    /** A held sandbox is told of again, in case nothing came of it. */
    static final Duration TELL_AGAIN = Duration.ofSeconds(20);

    static final Duration REMEMBER_AGAIN = Duration.ofSeconds(30);

    private final DiskLines lines;
    private final LongSupplier freeBytes;
    private final Supplier<List<Guarded>> running;
    private final ReportSink reports;
    private final LongSupplier nanos;
    private final Map<Guarded, Long> before = new HashMap<>();
    private final Map<Guarded, Long> told = new HashMap<>();

    /** At first as well: what an earlier process held goes on when there is space. */
    private boolean isShort = true;

    private long rememberedAt;
    private long actedAt = Long.MAX_VALUE;

    public DiskGuard(
            DiskLines lines,
            LongSupplier freeBytes,
            Supplier<List<Guarded>> running,
            ReportSink reports,
            LongSupplier nanos) {
        this.lines = lines;
        this.freeBytes = freeBytes;
        this.running = running;
        this.reports = reports;
        this.nanos = nanos;
    }

    /** One look. Cheap while there is space; not to be called by two at once. */
    public void look() {
        long free = freeBytes.getAsLong();
        if (free >= lines.watch()) {
            relax();
            return;
        }
        isShort = true;
        List<Guarded> all = running.get();
        before.keySet().retainAll(all);
        told.keySet().retainAll(all);
        if (free < lines.last()) {
            hold(all, free);
        } else if (free >= lines.hold()) {
            remember(all);
        } else if (free < actedAt - STEP_BYTES) {
            actedAt = free;
            hold(largest(grown(all)), free);
        }
        tell(all, free);
    }

    private void relax() {
        if (!isShort) {
            return;
        }
        isShort = false;
        for (Guarded sandbox : running.get()) {
            if (sandbox.held().isHeld()) {
                LOG.info("{} goes on: there is space again", sandbox.session());
                attempt(sandbox, () -> sandbox.held().letGo());
            }
        }
        before.clear();
        told.clear();
        actedAt = Long.MAX_VALUE;
    }

    /** What each has, not long before the hold line is reached. To ask is not cheap. */
    private void remember(List<Guarded> all) {
        long now = nanos.getAsLong();
        if (!before.isEmpty() && now - rememberedAt < REMEMBER_AGAIN.toNanos()) {
            return;
        }
        rememberedAt = now;
        before.clear();
        var _ = grown(all);
    }

    /** Since it was remembered, or 0 for one that was not. */
    private Map<Guarded, Long> grown(List<Guarded> all) {
        Map<Guarded, Long> grown = new HashMap<>();
        for (Guarded sandbox : all) {
            if (sandbox.held().isHeld()) {
                continue;
            }
            attempt(
                    sandbox,
                    () -> {
                        long now = sandbox.ownBytes();
                        grown.put(sandbox, now - before.computeIfAbsent(sandbox, _ -> now));
                    });
        }
        return grown;
    }

    /** Those who wrote at least half as much as the one that wrote most. */
    private static List<Guarded> largest(Map<Guarded, Long> grown) {
        long most = grown.values().stream().mapToLong(Long::longValue).max().orElse(0);
        return grown.entrySet().stream()
                .filter(e -> e.getValue() >= Math.max(GROWTH_MIN_BYTES, most / 2))
                .map(Map.Entry::getKey)
                .toList();
    }

    private void hold(Collection<Guarded> sandboxes, long free) {
        for (Guarded sandbox : sandboxes) {
            if (!sandbox.held().isHeld()) {
                attempt(
                        sandbox,
                        () -> {
                            if (sandbox.held().hold()) {
                                LOG.warn(
                                        "{} is held: {} MiB of the disk are free",
                                        sandbox.session(),
                                        free >> 20);
                            }
                        });
            }
        }
    }

    private void tell(List<Guarded> all, long free) {
        long now = nanos.getAsLong();
        for (Guarded sandbox : all) {
            Long last = told.get(sandbox);
            if (sandbox.held().isHeld() && (last == null || now - last > TELL_AGAIN.toNanos())) {
                told.put(sandbox, now);
                reports.add(
                        Report.newBuilder()
                                .setSessionId(sandbox.session().value())
                                .setEpoch(sandbox.start().epoch())
                                .setNumber(sandbox.start().number())
                                .setAttempt(sandbox.start().attempt())
                                .setSandboxHeld(SandboxHeld.newBuilder().setFreeBytes(free)),
                        true);
            }
        }
    }

    /** One that ends at this moment must not keep the others from being held. */
    private static void attempt(Guarded sandbox, Runnable body) {
        try {
            body.run();
        } catch (RuntimeException e) {
            LOG.warn("the disk guard goes on without {}", sandbox.session(), e);
        }
    }
}
