package dev.space.durable;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.durable.SnapshotReferences.ManifestName;
import dev.space.durable.SnapshotReferences.Reference;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever uploads, deletes, crashes and collections do to each other, what counts stays whole. */
final class GarbagePropertyTest {

    @TempDir Path root;

    static LongStream seeds() {
        return LongStream.range(0, 40);
    }

    /** The rows as the control plane keeps them, in short. */
    private static final class Rows implements SnapshotReferences {

        private record Row(
                Optional<DurableSnapshot> complete, Optional<DurableSnapshot> previous) {}

        private final Map<Long, Row> rows = new TreeMap<>();
        private long numbers;

        synchronized long begin(Optional<DurableSnapshot> previous) {
            rows.put(++numbers, new Row(Optional.empty(), previous));
            return numbers;
        }

        /** False when the upload was given up meanwhile. */
        synchronized boolean commit(long number, DurableSnapshot snapshot) {
            return rows.computeIfPresent(
                            number, (_, _) -> new Row(Optional.of(snapshot), Optional.empty()))
                    != null;
        }

        synchronized void forget(long number) {
            rows.remove(number);
        }

        synchronized Optional<DurableSnapshot> any(Random random) {
            List<DurableSnapshot> all = complete();
            return all.isEmpty()
                    ? Optional.empty()
                    : Optional.of(all.get(random.nextInt(all.size())));
        }

        synchronized List<DurableSnapshot> complete() {
            return rows.values().stream().flatMap(row -> row.complete().stream()).toList();
        }

        synchronized List<Long> numbers() {
            return List.copyOf(rows.keySet());
        }

        @Override
        public synchronized List<Reference> read() {
            List<Reference> all = new ArrayList<>();
            rows.forEach((number, row) ->
                    all.add(
                            new Reference(
                                    Scene.LINEAGE,
                                    "ses_one",
                                    number,
                                    row.complete().map(Rows::name),
                                    row.previous().map(Rows::name))));
            return all;
        }

        static ManifestName name(DurableSnapshot snapshot) {
            return new ManifestName(snapshot.manifestKey(), snapshot.manifestDigest());
        }
    }

    private static GarbageCollector collector(
            Scene scene, SnapshotReferences rows, Duration grace) {
        return new GarbageCollector(
                scene.objects,
                rows,
                Clock.fixed(Instant.EPOCH.plusSeconds(60), ZoneOffset.UTC),
                grace);
    }

    /** At every call to the store, something else may happen in between. */
    @ParameterizedTest
    @MethodSource("seeds")
    void whatCountsStaysWhole(long seed) throws IOException {
        try (Scene scene = new Scene(root, seed)) {
            Rows rows = new Rows();
            Random random = new Random(seed);
            GarbageCollector collector = collector(scene, rows, Duration.ZERO);
            Path directory = Trees.first(scene.fresh(), scene.template, scene.random);
            Map<String, Path> sources = new TreeMap<>();
            for (int step = 0; step < 9; step++) {
                directory = Trees.next(scene.fresh(), directory, scene.random);
                Optional<DurableSnapshot> previous = rows.any(random);
                long number = rows.begin(previous);
                int between = random.nextInt(4);
                scene.objects.beforeEach =
                        what -> {
                            if (!what.startsWith("put ") && !what.startsWith("create ")) {
                                return;
                            }
                            // Not from within the collector's own calls.
                            var mine = scene.objects.beforeEach;
                            scene.objects.beforeEach = _ -> {};
                            meanwhile(between, rows, number, collector, random);
                            scene.objects.beforeEach = mine;
                        };
                try {
                    DurableSnapshot done =
                            scene.store.upload(
                                    scene.request(number, directory, previous, Optional.empty()),
                                    TransferControl.NONE);
                    if (random.nextInt(5) > 0 && rows.commit(number, done)) {
                        sources.put(done.manifestKey(), directory);
                    } else {
                        rows.forget(number);
                    }
                } catch (dev.space.model.SpaceException e) {
                    // Given up in the middle and collected from under its hands: may fail.
                    assertThat(rows.numbers()).doesNotContain(number);
                }
                scene.objects.beforeEach = _ -> {};
                for (DurableSnapshot snapshot : rows.complete()) {
                    assertThat(
                                    scene.store
                                            .verify(snapshot, scene.key, TransferControl.NONE)
                                            .faults())
                            .isEmpty();
                }
            }
            for (DurableSnapshot snapshot : rows.complete()) {
                Trees.assertSame(
                        scene.download(snapshot),
                        java.util.Objects.requireNonNull(sources.get(snapshot.manifestKey())));
            }
            rows.numbers().forEach(rows::forget);
            var _ = collector.collect(() -> true);
            assertThat(scene.objects.objects).as("nothing is left for ever").isEmpty();
        }
    }

    private static void meanwhile(
            int what, Rows rows, long running, GarbageCollector collector, Random random) {
        switch (what) {
            case 0 -> {
                // Somebody deletes a snapshot, perhaps the very one that is built on.
                List<Long> numbers = rows.numbers();
                long victim = numbers.get(random.nextInt(numbers.size()));
                if (victim != running) {
                    rows.forget(victim);
                }
                var _ = collector.collect(() -> true);
            }
            case 1 -> {
                if (random.nextInt(8) == 0) {
                    rows.forget(running);
                }
                var _ = collector.collect(() -> true);
            }
            case 2 -> {
                var _ = collector.collect(() -> true);
            }
            default -> {
                // nothing happens
            }
        }
    }

    /** An upload that begins between the reading of rows and the listing is not collected. */
    @Test
    void anUploadThatBeginsMeanwhileIsSeenByTheSecondRead() throws IOException {
        try (Scene scene = new Scene(root, 700)) {
            Rows rows = new Rows();
            Path directory = Trees.first(scene.fresh(), scene.template, scene.random);
            scene.objects.beforeEach =
                    what -> {
                        if (what.startsWith("list ")) {
                            scene.objects.beforeEach = _ -> {};
                            long number = rows.begin(Optional.empty());
                            var done =
                                    scene.store.upload(
                                            scene.request(
                                                    number,
                                                    directory,
                                                    Optional.empty(),
                                                    Optional.empty()),
                                            TransferControl.NONE);
                            assertThat(rows.commit(number, done)).isTrue();
                        }
                    };
            var outcome = collector(scene, rows, Duration.ZERO).collect(() -> true);
            assertThat(outcome.seen()).isPositive();
            assertThat(outcome.removed()).isZero();
            Trees.assertSame(scene.download(rows.complete().getFirst()), directory);
        }
    }

    @Test
    void youngObjectsStayAndStrangersToo() throws IOException {
        try (Scene scene = new Scene(root, 701)) {
            Path directory = Trees.first(scene.fresh(), scene.template, scene.random);
            var _ = scene.upload(1, directory);
            scene.objects.tamper("lineages/README", new byte[] {1});
            int objects = scene.objects.objects.size();
            Rows none = new Rows();
            var outcome = collector(scene, none, Duration.ofMinutes(2)).collect(() -> true);
            assertThat(outcome.removed()).isZero();
            outcome = collector(scene, none, Duration.ofSeconds(30)).collect(() -> true);
            assertThat(outcome.removed()).isEqualTo(objects - 1);
            assertThat(outcome.unknown()).isEqualTo(1);
            assertThat(scene.objects.objects).containsOnlyKeys("lineages/README");
        }
    }

    /** Where it is not known what counts, nothing goes. */
    @Test
    void aDamagedManifestThatCountsKeepsItsLineage() throws IOException {
        try (Scene scene = new Scene(root, 702)) {
            Rows rows = new Rows();
            Path directory = Trees.first(scene.fresh(), scene.template, scene.random);
            long number = rows.begin(Optional.empty());
            DurableSnapshot done = scene.upload(number, directory);
            assertThat(rows.commit(number, done)).isTrue();
            var _ = scene.upload(99, directory);
            byte[] bytes = scene.objects.bytesOf(done.manifestKey()).clone();
            bytes[bytes.length - 1] ^= 1;
            scene.objects.tamper(done.manifestKey(), bytes);
            int objects = scene.objects.objects.size();
            var outcome = collector(scene, rows, Duration.ZERO).collect(() -> true);
            assertThat(outcome.kept()).isEqualTo(1);
            assertThat(scene.objects.objects).hasSize(objects);
            assertThat(Files.exists(directory)).isTrue();
        }
    }
}
