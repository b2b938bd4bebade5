package dev.space.node.app;

import dev.space.model.Thinning;
import dev.space.node.config.NodeConfig;
import dev.space.node.reports.ReportSink;
import dev.space.node.reports.SnapshotOutbox;
import dev.space.node.rolling.Retention;
import dev.space.node.rolling.RollingSettings;
import dev.space.node.rolling.RollingSnapshots;
import dev.space.node.sandbox.RollingView;
import dev.space.node.volumes.Volume;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The rhythm of rolling snapshots and their retention. */
final class Rolling implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Rolling.class);
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final Duration THIN = Duration.ofMinutes(1);
    private static final Duration ROOM = Duration.ofSeconds(10);

    /** Sessions that are worked on at once: the disk is shared with whoever waits for an answer. */
    private static final int WORKERS = 2;

    private static final Duration END_MAX = Duration.ofSeconds(10);

    private final RollingSnapshots snapshots;
    private final Retention retention;
    private final Duration thin;
    private final ExecutorService workers =
            Executors.newFixedThreadPool(
                    WORKERS, Thread.ofPlatform().daemon().name("rolling-", 0).factory());
    private final Rounds rounds = new Rounds("rolling snapshots", 1, END_MAX);

    private Rolling(NodeConfig.Rolling config, RollingView view, ReportSink sink, Volume volume) {
        RollingSettings settings = settings(config);
        SnapshotOutbox reports = new SnapshotOutbox(sink);
        snapshots =
                new RollingSnapshots(
                        view,
                        settings,
                        reports,
                        volume::freeBytes,
                        () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()),
                        System::currentTimeMillis,
                        workers);
        retention =
                new Retention(
                        view, settings, reports, volume::freeBytes, System::currentTimeMillis);
        Duration finest = settings.keep().tiers().getFirst().every();
        thin = finest.compareTo(THIN) < 0 ? finest : THIN;
    }

    static RollingSettings settings(NodeConfig.Rolling config) {
        return new RollingSettings(
                Duration.ofSeconds(config.diskSeconds()),
                Duration.ofSeconds(config.fullSeconds()),
                config.freeze(),
                config.reserveMib() << 20,
                Thinning.parse(config.keep()),
                config.snapshotsMax());
    }

    static Rolling started(
            NodeConfig.Rolling config, RollingView view, ReportSink sink, Volume volume) {
        Rolling made = new Rolling(config, view, sink, volume);
        made.start();
        return made;
    }

    private void start() {
        rounds.every(LOOK, snapshots::look);
        rounds.every(thin, retention::thin);
        rounds.every(ROOM, retention::makeRoom);
    }

    /** Waits rather than interrupts: an interrupt would close a file under its writer. */
    @Override
    public void close() {
        rounds.close();
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
