package dev.space.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** An upload that is cut anywhere leaves nothing restorable and is finished by its repetition. */
final class CutUploadPropertyTest {

    @TempDir Path root;

    static LongStream seeds() {
        return LongStream.range(0, 200);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aCutUploadIsFinishedByItsRepetition(long seed) throws IOException {
        try (Scene scene = new Scene(root, seed)) {
            Path directory = many(scene);
            Random random = new Random(seed);
            int tries = 0;
            Optional<DurableSnapshot> done = Optional.empty();
            while (done.isEmpty()) {
                scene.objects.cutAfterEffect = random.nextBoolean();
                scene.objects.callsLeft.set(tries++ < 4 ? random.nextInt(14) : -1);
                try {
                    done = Optional.of(scene.upload(1, directory));
                } catch (SpaceException e) {
                    assertThat(e.code()).isEqualTo(ErrorCode.OBJECT_STORE_UNAVAILABLE);
                    scene.objects.callsLeft.set(-1);
                }
            }
            scene.objects.callsLeft.set(-1);
            Trees.assertSame(scene.download(done.get()), directory);
            assertThat(scene.store.buffers().freeNow()).isEqualTo(PackBuffers.COUNT);
            assertThat(scene.objects.bytesPut.get())
                    .as("no pack is sent twice unless its own answer was lost")
                    .isLessThan(2 * done.get().bytesStored());
        }
    }

    /** Random content for several packs, in a file that no template has. */
    private static Path many(Scene scene) throws IOException {
        Path directory = Files.createDirectory(scene.fresh());
        Files.write(directory.resolve("ram"), Trees.bytes(scene.random, 3 * Scene.PACK_BYTES + 99));
        Files.copy(scene.template.resolve("disk"), directory.resolve("disk"));
        return directory;
    }

    @Test
    void beforeTheManifestNothingCanBeRestored() throws IOException {
        try (Scene scene = new Scene(root, 500)) {
            Path directory = many(scene);
            scene.objects.beforeEach =
                    what -> {
                        if (what.startsWith("create ")) {
                            throw new SpaceException(ErrorCode.OBJECT_STORE_UNAVAILABLE, "down");
                        }
                    };
            assertThatThrownBy(() -> scene.upload(1, directory)).isInstanceOf(SpaceException.class);
            assertThat(scene.objects.objects.keySet()).isNotEmpty().noneMatch(Names::isManifest);
            scene.objects.beforeEach = what -> {};
            var guess =
                    new DurableSnapshot(
                            new Names.Owner(Scene.LINEAGE, "ses_one", 1).manifest(),
                            "0".repeat(64),
                            0,
                            0,
                            0);
            assertThatThrownBy(() -> scene.download(guess)).hasMessageContaining("missing");
        }
    }

    @Test
    void cancelsBetweenPacksAndGoesOnLater() throws IOException {
        try (Scene scene = new Scene(root, 501)) {
            Path directory = many(scene);
            TransferControl control =
                    new TransferControl() {
                        @Override
                        public boolean cancelled() {
                            return scene.objects.puts.get() > 0;
                        }

                        @Override
                        public void progress(long done, long total) {}
                    };
            UploadRequest request = scene.request(1, directory, Optional.empty(), Optional.empty());
            assertThatThrownBy(() -> scene.store.upload(request, control))
                    .isInstanceOf(TransferCancelledException.class);
            assertThat(scene.objects.objects.keySet()).noneMatch(Names::isManifest);
            assertThat(scene.store.buffers().freeNow()).isEqualTo(PackBuffers.COUNT);
            int before = scene.objects.puts.get();
            DurableSnapshot snapshot = scene.upload(1, directory);
            assertThat(snapshot.bytesUploaded()).isLessThan(snapshot.bytesStored());
            assertThat(scene.objects.puts.get()).isLessThan(2 * before + 4);
            Trees.assertSame(scene.download(snapshot), directory);
        }
    }

    @Test
    void aFullStoreIsSaidAndLaterGoesOn() throws IOException {
        try (Scene scene = new Scene(root, 502)) {
            Path directory = many(scene);
            scene.objects.roomBytes = Scene.PACK_BYTES + (1 << 18);
            assertThatThrownBy(() -> scene.upload(1, directory))
                    .isInstanceOfSatisfying(
                            SpaceException.class,
                            e -> assertThat(e.code()).isEqualTo(ErrorCode.OBJECT_STORE_FULL));
            scene.objects.roomBytes = Long.MAX_VALUE;
            Trees.assertSame(scene.download(scene.upload(1, directory)), directory);
        }
    }

    /** A store that takes bytes and gives others back is found out before anything counts. */
    @Test
    void aStoreThatLosesBytesIsFoundOut() throws IOException {
        try (Scene scene = new Scene(root, 503)) {
            Path directory = many(scene);
            scene.objects.tagsAreMd5 = false;
            scene.objects.beforeEach =
                    what -> {
                        if (what.startsWith("read ") && what.endsWith(".pack")) {
                            String key = what.substring(5);
                            byte[] bytes = scene.objects.bytesOf(key);
                            bytes[bytes.length / 2] ^= 1;
                        }
                    };
            assertThatThrownBy(() -> scene.upload(1, directory))
                    .hasMessageContaining("does not give it back");
            assertThat(scene.objects.objects.keySet()).noneMatch(Names::isManifest);
        }
        // With nothing lost, tags that say nothing are no hindrance.
        try (Scene scene = new Scene(root.resolve("again"), 504)) {
            Path directory = many(scene);
            scene.objects.tagsAreMd5 = false;
            Trees.assertSame(scene.download(scene.upload(1, directory)), directory);
        }
    }

    @Test
    void twoUploadsOfOneLineageDoNotMeet() throws Exception {
        try (Scene scene = new Scene(root, 505)) {
            Path first = many(scene);
            try (var pool = java.util.concurrent.Executors.newFixedThreadPool(2)) {
                var one = pool.submit(() -> scene.upload(1, first));
                var two = pool.submit(() -> scene.upload(2, first));
                Trees.assertSame(scene.download(one.get()), first);
                Trees.assertSame(scene.download(two.get()), first);
            } catch (java.util.concurrent.ExecutionException e) {
                fail("an upload failed", e);
            }
        }
    }

    /** Both finish although they need more memory for packs than there is at once. */
    @Test
    void memoryForPacksIsBounded() throws Exception {
        try (Scene scene = new Scene(root, 506)) {
            Path directory = Files.createDirectory(scene.fresh());
            Files.write(directory.resolve("ram"), Trees.bytes(scene.random, 4 * Scene.PACK_BYTES));
            var least = new java.util.concurrent.atomic.AtomicInteger(PackBuffers.COUNT);
            scene.objects.beforeEach =
                    what -> least.accumulateAndGet(scene.store.buffers().freeNow(), Math::min);
            try (var pool = java.util.concurrent.Executors.newFixedThreadPool(4)) {
                var all = new java.util.ArrayList<java.util.concurrent.Future<DurableSnapshot>>();
                for (int row = 1; row <= 4; row++) {
                    int mine = row;
                    all.add(pool.submit(() -> scene.upload(mine, directory)));
                }
                for (var one : all) {
                    assertThat(one.get().bytesStored()).isGreaterThan(4L * Scene.PACK_BYTES);
                }
            }
            assertThat(least.get()).isNotNegative();
            assertThat(scene.store.buffers().freeNow()).isEqualTo(PackBuffers.COUNT);
        }
    }
}
