package dev.space.node.app;

import dev.space.model.Thinning;
import dev.space.nativeabi.FileSystemType;
import dev.space.node.config.NodeConfig;
import dev.space.node.reports.ReportSink;
import dev.space.node.reports.SnapshotOutbox;
import dev.space.node.rolling.ByteQuotas;
import dev.space.node.rolling.ClockFile;
import dev.space.node.rolling.Compaction;
import dev.space.node.rolling.Retention;
import dev.space.node.rolling.RollingSettings;
import dev.space.node.rolling.RollingSnapshots;
import dev.space.node.rolling.SteadyTime;
import dev.space.node.sandbox.RollingView;
import dev.space.node.volumes.Volume;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The rhythm of rolling snapshots and their retention. */
final class Rolling implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Rolling.class);
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final Duration THIN = Duration.ofMinutes(1);
    private static final Duration ROOM = Duration.ofSeconds(10);
    private static final Duration BYTES = Duration.ofMinutes(5);
    private static final Duration COMPACT = Duration.ofSeconds(20);

    /** Sessions that are worked on at once: the disk is shared with whoever waits for an answer. */
    private static final int WORKERS = 2;

    private static final Duration END_MAX = Duration.ofSeconds(10);
    private static final String CLOCK = "clock";

    private final RollingSnapshots snapshots;
    private final Retention retention;
    private final ByteQuotas quotas;
    private final Duration thin;
    private final ExecutorService workers =
            Executors.newFixedThreadPool(
                    WORKERS, Thread.ofPlatform().daemon().name("rolling-", 0).factory());
    private final Rounds rounds = new Rounds("rolling snapshots", 1, END_MAX);
    private final Rounds compactions = new Rounds("compaction", 1, END_MAX);
    private final @Nullable Compaction compaction;

    private Rolling(NodeConfig.Node node, RollingView view, ReportSink sink, Volume volume) {
        RollingSettings settings = settings(node.rolling());
        SnapshotOutbox reports = new SnapshotOutbox(sink);
        snapshots =
                new RollingSnapshots(
                        view,
                        settings,
                        reports,
                        volume::freeBytes,
                        Rolling::millis,
                        System::currentTimeMillis,
                        workers);
        retention =
                new Retention(
                        view,
                        settings,
                        reports,
                        volume::freeBytes,
                        new SteadyTime(
                                System::currentTimeMillis,
                                Uptime::millis,
                                Uptime.boot(),
                                ClockFile.in(node.stateDir().resolve(CLOCK))));
        quotas = new ByteQuotas(view, settings, reports);
        compaction = isBtrfs(volume) ? new Compaction(view, settings, volume::freeBytes) : null;
        Duration finest = settings.keep().tiers().getFirst().every();
        thin = finest.compareTo(THIN) < 0 ? finest : THIN;
    }

    /** Elsewhere there are no clones, and nothing to keep cheap. */
    private static boolean isBtrfs(Volume volume) {
        try {
            return FileSystemType.isBtrfs(volume.templates());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A clock that only goes forward. */
    private static long millis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
    }

    static RollingSettings settings(NodeConfig.Rolling config) {
        return new RollingSettings(
                Duration.ofSeconds(config.diskSeconds()),
                Duration.ofSeconds(config.fullSeconds()),
                config.freeze(),
                config.reserveMib() << 20,
                Thinning.parse(config.keep()),
                config.snapshotsMax(),
                config.sessionMib() << 20,
                config.nodeMib() << 20);
    }

    static Rolling started(
            NodeConfig.Node node,
            RollingView view,
            ReportSink sink,
            Volume volume,
            MeterRegistry registry) {
        Rolling made = new Rolling(node, view, sink, volume);
        made.start();
        measure(made.quotas, registry);
        return made;
    }

    private static void measure(ByteQuotas quotas, MeterRegistry registry) {
        Gauge.builder("space.node.snapshots.bytes", quotas, q -> q.used().nodeBytes())
                .description(
                        "What snapshots cost on the disk; measured only where there is a bound")
                .register(registry);
        Gauge.builder("space.node.snapshots.max.bytes", quotas, q -> q.bounds().nodeBytes())
                .description("What they may; 0: no bound")
                .register(registry);
        Gauge.builder("space.node.session.snapshots.bytes", quotas, q -> q.used().largestBytes())
                .description("What those of the session with the most cost")
                .register(registry);
        Gauge.builder(
                        "space.node.session.snapshots.max.bytes",
                        quotas,
                        q -> q.bounds().sessionBytes())
                .description("What those of one session may; 0: no bound")
                .register(registry);
    }

    private void start() {
        rounds.every(LOOK, snapshots::look);
        rounds.every(thin, retention::thin);
        rounds.every(ROOM, retention::makeRoom);
        compactions.every(BYTES, quotas::look);
        if (compaction != null) {
            compactions.every(COMPACT, compaction::look);
        }
    }

    /** Waits rather than interrupts: an interrupt would close a file under its writer. */
    @Override
    public void close() {
        rounds.close();
        compactions.close();
        workers.shutdown();
        try {
            if (!workers.awaitTermination(END_MAX.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.warn("a rolling snapshot is cut off after {} ms", END_MAX.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
