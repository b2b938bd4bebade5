package dev.space.service.repair;

import dev.space.durable.GarbageCollector;
import dev.space.durable.LineageId;
import dev.space.durable.S3Settings;
import dev.space.durable.SnapshotReferences;
import dev.space.model.SpaceException;
import dev.space.service.config.SecretFiles;
import dev.space.service.config.SpaceConfig;
import dev.space.store.DurableRows;
import dev.space.store.TemplateRows;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.scheduler.Scheduled;
import io.quarkus.scheduler.Scheduled.ConcurrentExecution;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Rids the object store of what no row needs. The rule is the collector's; here are the rows. Any
 * number of instances may run it at once: each keeps to the rule by itself.
 */
@Singleton
public class ObjectGarbage {

    private static final int PAGE = 1_000;

    private static final Logger LOG = Logger.getLogger(ObjectGarbage.class);

    private final DurableRows rows;
    private final TemplateRows templates;
    private final SpaceConfig config;
    private final MeterRegistry metrics;
    private volatile boolean stopping;
    private @Nullable GarbageCollector made;

    @Inject
    public ObjectGarbage(
            DurableRows rows, TemplateRows templates, SpaceConfig config, MeterRegistry metrics) {
        this.rows = rows;
        this.templates = templates;
        this.config = config;
        this.metrics = metrics;
    }

    @Scheduled(
            every = "${space.control.garbage-every:1h}",
            delayed = "1m",
            concurrentExecution = ConcurrentExecution.SKIP)
    @RunOnVirtualThread
    void run() {
        if (!config.roles().contains("api") || config.objectStore().endpoint().isEmpty()) {
            return;
        }
        try {
            int unused = templates.giveUpUnused();
            if (unused > 0) {
                LOG.infof("%d stored templates are used by nobody and given up", unused);
            }
            GarbageCollector.Outcome outcome = collector().collect(() -> !stopping);
            metrics.counter("space_object_garbage_removed").increment((double) outcome.removed());
            metrics.counter("space_object_garbage_bytes")
                    .increment((double) outcome.removedBytes());
            if (outcome.removed() > 0 || outcome.kept() > 0) {
                LOG.infof("object store: %s", outcome);
            }
        } catch (SpaceException failure) {
            // The next turn tries again; garbage costs room only.
            metrics.counter("space_reconcile_failures", "step", "garbage").increment();
            LOG.warnf("object store not cleaned: %s %s", failure.code(), failure.getMessage());
        }
    }

    private synchronized GarbageCollector collector() {
        GarbageCollector there = made;
        if (there == null) {
            SpaceConfig.ObjectStore store = config.objectStore();
            there =
                    new GarbageCollector(
                            new S3Settings(
                                    needed("endpoint", store.endpoint()),
                                    store.region(),
                                    store.bucket(),
                                    needed("access-key", store.accessKey()),
                                    SecretFiles.read(
                                            "space.object-store.secret-key-file",
                                            Path.of(
                                                    needed(
                                                            "secret-key-file",
                                                            store.secretKeyFile()
                                                                    .map(Path::toString))))),
                            () -> all(rows, templates),
                            Clock.systemUTC());
            made = there;
        }
        return there;
    }

    private static String needed(String key, Optional<String> value) {
        return value.orElseThrow(() ->
                new SpaceException(
                        dev.space.model.ErrorCode.INTERNAL,
                        "space.object-store.endpoint needs space.object-store." + key));
    }

    /** Later uploads have higher numbers, so reading in their order leaves out none. */
    static List<SnapshotReferences.Reference> all(DurableRows rows, TemplateRows templates) {
        List<SnapshotReferences.Reference> all = new ArrayList<>();
        pages(rows::references, DurableRows.Reference::number)
                .forEach(row -> all.add(reference(row)));
        pages(templates::references, TemplateRows.Reference::number)
                .forEach(row -> all.add(reference(row)));
        return all;
    }

    @FunctionalInterface
    private interface Pages<R> {
        List<R> after(long number, int max);
    }

    private static <R> List<R> pages(Pages<R> pages, ToLongFunction<R> number) {
        List<R> all = new ArrayList<>();
        long after = 0;
        while (true) {
            List<R> page = pages.after(after, PAGE);
            all.addAll(page);
            if (page.size() < PAGE) {
                return all;
            }
            after = number.applyAsLong(page.getLast());
        }
    }

    static SnapshotReferences.Reference reference(TemplateRows.Reference row) {
        return new SnapshotReferences.Reference(
                new LineageId(TemplateRows.LINEAGE),
                row.digest(),
                row.number(),
                row.complete() ? name(row.manifestKey(), row.manifestDigest()) : Optional.empty(),
                name(row.previousKey(), row.previousDigest()));
    }

    static SnapshotReferences.Reference reference(DurableRows.Reference row) {
        Optional<SnapshotReferences.ManifestName> own =
                name(row.manifestKey(), row.manifestDigest());
        return new SnapshotReferences.Reference(
                new LineageId(row.lineage()),
                row.session().value(),
                row.number(),
                row.complete() ? own : Optional.empty(),
                name(row.previousKey(), row.previousDigest()));
    }

    private static Optional<SnapshotReferences.ManifestName> name(
            @Nullable String key, @Nullable String digest) {
        return key == null || digest == null
                ? Optional.empty()
                : Optional.of(new SnapshotReferences.ManifestName(key, digest));
    }

    @PreDestroy
    void stop() {
        stopping = true;
    }
}
