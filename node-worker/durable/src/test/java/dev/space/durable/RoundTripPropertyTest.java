package dev.space.durable;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What comes back is what went in, whatever was changed and whatever helps were there. */
final class RoundTripPropertyTest {

    @TempDir Path root;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
    void aChainOfSnapshotsComesBackByteByByte(long seed) throws IOException {
        try (Scene scene = new Scene(root, seed)) {
            List<Path> directories = new ArrayList<>();
            List<DurableSnapshot> snapshots = new ArrayList<>();
            directories.add(Trees.first(scene.fresh(), scene.template, scene.random));
            snapshots.add(scene.upload(0, directories.getFirst()));
            for (int row = 1; row < 5; row++) {
                Path before = directories.getLast();
                directories.add(Trees.next(scene.fresh(), before, scene.random));
                snapshots.add(
                        scene.store.upload(
                                scene.request(
                                        row,
                                        directories.getLast(),
                                        Optional.of(snapshots.getLast()),
                                        scene.random.nextBoolean()
                                                ? Optional.of(before)
                                                : Optional.empty()),
                                TransferControl.NONE));
            }
            for (int i = 0; i < snapshots.size(); i++) {
                Trees.assertSame(scene.download(snapshots.get(i)), directories.get(i));
                Verification check =
                        scene.store.verify(snapshots.get(i), scene.key, TransferControl.NONE);
                assertThat(check.faults()).isEmpty();
            }
            assertThat(scene.store.buffers().freeNow()).isEqualTo(PackBuffers.COUNT);
        }
    }

    @Test
    void bytesFollowTheChange() throws IOException {
        try (Scene scene = new Scene(root, 77)) {
            Path first = Trees.first(scene.fresh(), scene.template, scene.random);
            DurableSnapshot all = scene.upload(1, first);
            Path second = scene.fresh();
            Trees.copy(first, second);
            try (var ram = new java.io.RandomAccessFile(second.resolve("ram").toFile(), "rw")) {
                ram.seek(5L * Format.CHUNK_BYTES + 100);
                ram.write(Trees.bytes(scene.random, 1000));
            }
            DurableSnapshot change =
                    scene.store.upload(
                            scene.request(2, second, Optional.of(all), Optional.empty()),
                            TransferControl.NONE);
            assertThat(change.bytesUploaded()).isLessThan(2L * Format.CHUNK_BYTES);
            assertThat(change.bytesStored()).isGreaterThan(change.bytesUploaded());
            assertThat(change.bytesLogical()).isEqualTo(all.bytesLogical());
        }
    }

    /** The template's disk is not sent, nor any content in the clear. */
    @Test
    void theStoreSeesNeitherTheTemplateNorTheToken() throws IOException {
        try (Scene scene = new Scene(root, 78)) {
            Path first = Trees.first(scene.fresh(), scene.template, scene.random);
            DurableSnapshot snapshot = scene.upload(1, first);
            long withoutDisk = Trees.RAM_BYTES + 120_000;
            assertThat(snapshot.bytesStored()).isLessThan(withoutDisk);
            scene.objects.objects.forEach((key, object) ->
                    assertThat(new String(object.bytes(), StandardCharsets.ISO_8859_1))
                            .as(key)
                            .doesNotContain("canary")
                            .doesNotContain("manifest.json"));
        }
    }

    @Test
    void aSecondCallOfTheSameUploadFindsEverything() throws IOException {
        try (Scene scene = new Scene(root, 79)) {
            Path first = Trees.first(scene.fresh(), scene.template, scene.random);
            DurableSnapshot once = scene.upload(1, first);
            int puts = scene.objects.puts.get();
            DurableSnapshot twice = scene.upload(1, first);
            assertThat(twice.manifestDigest()).isEqualTo(once.manifestDigest());
            assertThat(twice.bytesUploaded()).isZero();
            assertThat(scene.objects.puts.get()).isEqualTo(puts);
        }
    }

    @Test
    void withoutATemplateEverythingIsStored() throws IOException {
        try (Scene scene = new Scene(root, 80)) {
            Path first = Trees.first(scene.fresh(), scene.template, scene.random);
            Path nowhere = root.resolve("nowhere");
            DurableSnapshot snapshot =
                    scene.store.upload(
                            new UploadRequest(
                                    Scene.LINEAGE,
                                    scene.key,
                                    "ses_one",
                                    1,
                                    first,
                                    nowhere,
                                    Optional.empty(),
                                    Optional.empty()),
                            TransferControl.NONE);
            Path staging = scene.staging();
            scene.store.download(snapshot, scene.key, staging, nowhere, TransferControl.NONE);
            Trees.assertSame(staging, first);
        }
    }
}
