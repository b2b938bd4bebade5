package dev.space.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever happens to an object is found, named, and never restored, not even in part. */
final class DamagePropertyTest {

    @TempDir Path root;

    static LongStream seeds() {
        return LongStream.range(0, 60);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void damageIsNamedAndNothingIsLeft(long seed) throws IOException {
        try (Scene scene = new Scene(root, seed)) {
            Path first = Trees.first(scene.fresh(), scene.template, scene.random);
            DurableSnapshot before = scene.upload(1, first);
            Path second = Trees.next(scene.fresh(), first, scene.random);
            DurableSnapshot snapshot =
                    scene.store.upload(
                            scene.request(2, second, Optional.of(before), Optional.of(first)),
                            TransferControl.NONE);
            String victim = damage(scene, snapshot, new Random(seed));
            Path staging = scene.staging();
            assertThatThrownBy(() ->
                            scene.store.download(
                                    snapshot,
                                    scene.key,
                                    staging,
                                    scene.template,
                                    TransferControl.NONE))
                    .isInstanceOfSatisfying(
                            SpaceException.class,
                            e -> assertThat(e.code()).isEqualTo(ErrorCode.SNAPSHOT_CORRUPT))
                    .hasMessageContaining(victim);
            try (Stream<Path> left = Files.list(staging)) {
                assertThat(left).isEmpty();
            }
            Verification check = scene.store.verify(snapshot, scene.key, TransferControl.NONE);
            assertThat(check.faults()).isNotEmpty().anyMatch(fault -> fault.contains(victim));
            assertThat(scene.store.buffers().freeNow()).isEqualTo(PackBuffers.COUNT);
        }
    }

    /** Damages something that the snapshot needs and gives its name. */
    private static String damage(Scene scene, DurableSnapshot snapshot, Random random) {
        Manifest manifest =
                ManifestObjects.require(
                        scene.objects, snapshot, LineageKeys.of(Scene.LINEAGE, scene.key));
        List<String> names = new ArrayList<>(List.of(snapshot.manifestKey()));
        manifest.packs().forEach(pack -> names.add(pack.key(Scene.LINEAGE)));
        String victim = names.get(random.nextInt(names.size()));
        byte[] bytes = scene.objects.bytesOf(victim).clone();
        switch (random.nextInt(3)) {
            case 0 -> scene.objects.objects.remove(victim);
            case 1 ->
                    scene.objects.tamper(
                            victim, Arrays.copyOf(bytes, needed(manifest, victim, bytes, random)));
            default -> {
                bytes[needed(manifest, victim, bytes, random)] ^= (byte) (1 << random.nextInt(8));
                scene.objects.tamper(victim, bytes);
            }
        }
        return victim;
    }

    /** A place that the snapshot reads: in an old pack not every chunk is used any more. */
    private static int needed(Manifest manifest, String victim, byte[] bytes, Random random) {
        List<ChunkReads.Target> targets =
                ChunkReads.of(manifest).stream()
                        .filter(range -> range.pack().key(Scene.LINEAGE).equals(victim))
                        .flatMap(range -> range.targets().stream())
                        .toList();
        if (targets.isEmpty()) {
            return random.nextInt(bytes.length);
        }
        ChunkRef chunk = targets.get(random.nextInt(targets.size())).chunk();
        return chunk.offset() + random.nextInt(chunk.sealed());
    }

    /** Packs of another lineage do not open, even with everything else in place. */
    @Test
    void anotherKeyOpensNothing() throws IOException {
        try (Scene scene = new Scene(root, 900)) {
            Path first = Trees.first(scene.fresh(), scene.template, scene.random);
            DurableSnapshot snapshot = scene.upload(1, first);
            Path staging = scene.staging();
            try (LineageKey other = new LineageKey(new byte[LineageKey.BYTES])) {
                assertThatThrownBy(() ->
                                scene.store.download(
                                        snapshot,
                                        other,
                                        staging,
                                        scene.template,
                                        TransferControl.NONE))
                        .hasMessageContaining("seal");
            }
        }
    }

    /** A manifest that is put under another snapshot's name is not taken for it. */
    @Test
    void aManifestUnderAnotherNameIsRefused() throws IOException {
        try (Scene scene = new Scene(root, 901)) {
            Path first = Trees.first(scene.fresh(), scene.template, scene.random);
            DurableSnapshot snapshot = scene.upload(1, first);
            byte[] object = scene.objects.bytesOf(snapshot.manifestKey());
            String moved = new Names.Owner(Scene.LINEAGE, "ses_one", 2).manifest();
            scene.objects.tamper(moved, object);
            var claim = new DurableSnapshot(moved, snapshot.manifestDigest(), 0, 0, 0);
            assertThatThrownBy(() -> scene.download(claim)).hasMessageContaining("manifest of");
            var wrong = new DurableSnapshot("lineages/../x/manifest", "", 0, 0, 0);
            assertThatThrownBy(() -> scene.download(wrong)).hasMessageContaining("not the name");
        }
    }

    @Test
    void anotherTemplateIsNamed() throws IOException {
        try (Scene scene = new Scene(root, 902)) {
            Path first = Trees.first(scene.fresh(), scene.template, scene.random);
            DurableSnapshot snapshot = scene.upload(1, first);
            Path disk = scene.template.resolve("disk");
            byte[] bytes = Files.readAllBytes(disk);
            bytes[100] ^= 1;
            Files.write(disk, bytes);
            Files.setLastModifiedTime(disk, java.nio.file.attribute.FileTime.fromMillis(1));
            assertThatThrownBy(() -> scene.download(snapshot))
                    .isInstanceOfSatisfying(
                            SpaceException.class,
                            e -> assertThat(e.code()).isEqualTo(ErrorCode.SNAPSHOT_INCOMPATIBLE))
                    .hasMessageContaining("template's disk");
        }
    }

    /** The next upload trusts no damaged predecessor: it sends everything itself. */
    @Test
    void aLostPredecessorCostsBytesOnly() throws IOException {
        try (Scene scene = new Scene(root, 903)) {
            Path first = Trees.first(scene.fresh(), scene.template, scene.random);
            DurableSnapshot before = scene.upload(1, first);
            scene.objects.objects.keySet().removeIf(key -> key.endsWith(".pack"));
            Path second = Trees.next(scene.fresh(), first, scene.random);
            DurableSnapshot snapshot =
                    scene.store.upload(
                            scene.request(2, second, Optional.of(before), Optional.of(first)),
                            TransferControl.NONE);
            Trees.assertSame(scene.download(snapshot), second);
            scene.objects.objects.clear();
            DurableSnapshot again =
                    scene.store.upload(
                            scene.request(3, second, Optional.of(before), Optional.of(first)),
                            TransferControl.NONE);
            Trees.assertSame(scene.download(again), second);
        }
    }

    @Test
    void aDownloadIntoAFilledDirectoryIsRefusedAndLeavesItAlone() throws IOException {
        try (Scene scene = new Scene(root, 904)) {
            Path first = Trees.first(scene.fresh(), scene.template, scene.random);
            DurableSnapshot snapshot = scene.upload(1, first);
            Path full = Files.createDirectory(scene.fresh());
            Files.writeString(full.resolve("mine"), "x");
            assertThatThrownBy(() ->
                            scene.store.download(
                                    snapshot,
                                    scene.key,
                                    full,
                                    scene.template,
                                    TransferControl.NONE))
                    .hasMessageContaining("not empty");
            assertThat(full.resolve("mine")).exists();
        }
    }
}
