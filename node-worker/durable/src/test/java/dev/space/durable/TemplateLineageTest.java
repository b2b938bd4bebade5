package dev.space.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Templates are stored as they are, in a lineage of their own, by digest instead of session. */
final class TemplateLineageTest {

    private static final LineageId TEMPLATES = new LineageId("templates");
    private static final String FIRST = "0a".repeat(32);
    private static final String NEXT = "0b".repeat(32);

    @TempDir Path root;
    private Scene scene;

    @BeforeEach
    void open() throws IOException {
        scene = new Scene(root, 7);
    }

    @AfterEach
    void close() {
        scene.close();
    }

    private Path template(byte[] disk, String json) throws IOException {
        Path directory = scene.staging();
        Files.write(directory.resolve("disk"), disk);
        Files.writeString(directory.resolve("template.json"), json);
        return directory;
    }

    private DurableSnapshot store(
            String digest, long row, Path from, Optional<DurableSnapshot> previous) {
        return scene.store.upload(
                new UploadRequest(
                        TEMPLATES,
                        scene.key,
                        digest,
                        row,
                        from,
                        from.resolve("none"),
                        previous,
                        Optional.empty()),
                TransferControl.NONE);
    }

    private Path fetch(DurableSnapshot stored) throws IOException {
        Path staging = scene.staging();
        scene.store.download(
                stored, scene.key, staging, staging.resolve("none"), TransferControl.NONE);
        return staging;
    }

    @Test
    void theNextSendsOnlyWhatTheLastDidNotHave() throws IOException {
        byte[] disk = Trees.bytes(scene.random, 40 * Format.CHUNK_BYTES + 17);
        DurableSnapshot first = store(FIRST, 1, template(disk, "{}"), Optional.empty());
        assertThat(first.manifestKey()).isEqualTo("lineages/templates/" + FIRST + "/1/manifest");
        disk[5 * Format.CHUNK_BYTES]++;
        DurableSnapshot next = store(NEXT, 2, template(disk, "{1}"), Optional.of(first));
        assertThat(next.bytesUploaded()).isLessThan(4 * Format.CHUNK_BYTES);
        Path back = fetch(next);
        assertThat(back.resolve("disk")).hasBinaryContent(disk);
        assertThat(back.resolve("template.json")).hasContent("{1}");
    }

    @Test
    void aCutUploadGoesOnWithWhatItSent() throws IOException {
        byte[] disk = Trees.bytes(scene.random, 40 * Format.CHUNK_BYTES);
        Path from = template(disk, "{}");
        scene.objects.callsLeft.set(9);
        assertThatThrownBy(() -> store(FIRST, 1, from, Optional.empty()))
                .isInstanceOf(SpaceException.class);
        scene.objects.callsLeft.set(-1);
        long sent = scene.objects.bytesPut.get();
        assertThat(sent).isPositive();
        DurableSnapshot stored = store(FIRST, 1, from, Optional.empty());
        assertThat(stored.bytesUploaded()).isLessThan(stored.bytesStored());
        assertThat(fetch(stored).resolve("disk")).hasBinaryContent(disk);
    }

    @Test
    void aDamagedPartIsNamedAndLeavesNothing() throws IOException {
        byte[] disk = Trees.bytes(scene.random, 20 * Format.CHUNK_BYTES);
        DurableSnapshot stored = store(FIRST, 1, template(disk, "{}"), Optional.empty());
        String pack =
                scene.objects.objects.keySet().stream()
                        .filter(key -> key.endsWith(".pack"))
                        .findFirst()
                        .orElseThrow();
        byte[] good = Objects.requireNonNull(scene.objects.objects.get(pack)).bytes();
        byte[] flipped = good.clone();
        flipped[flipped.length / 2] ^= 1;
        for (byte[] bad : new byte[][] {flipped, java.util.Arrays.copyOf(good, 100)}) {
            scene.objects.put(pack, bad, bad.length);
            Path staging = scene.staging();
            assertThatThrownBy(() ->
                            scene.store.download(
                                    stored,
                                    scene.key,
                                    staging,
                                    staging.resolve("none"),
                                    TransferControl.NONE))
                    .isInstanceOfSatisfying(
                            SpaceException.class,
                            e -> assertThat(e.code()).isEqualTo(ErrorCode.SNAPSHOT_CORRUPT))
                    .hasMessageContaining(pack);
            assertThat(staging).isEmptyDirectory();
        }
    }
}
