package dev.space.node.templates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.durable.TransferCancelledException;
import dev.space.durable.TransferControl;
import dev.space.model.ErrorCode;
import dev.space.model.Size;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.GuestToken;
import dev.space.node.volumes.CopyCloner;
import dev.space.node.volumes.DurableFiles;
import dev.space.node.volumes.Json;
import dev.space.node.volumes.Volume;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two nodes with a cache and a volume each; one built the template, the other lacks it. */
final class FetchedTemplatesTest {

    private static final String ROOTFS = "1".repeat(64);
    private static final String BUNDLE = "2".repeat(64);
    private static final String DIGEST = sha256("template 1\n%s\n%s\n".formatted(ROOTFS, BUNDLE));
    private static final int AT_ONCE = 20;

    @TempDir Path directory;
    private Shelf shelf;
    private CacheTemplates builder;
    private CacheTemplates other;
    private Volume otherVolume;

    private static String sha256(String text) {
        try {
            return HexFormat.of()
                    .formatHex(
                            MessageDigest.getInstance("SHA-256")
                                    .digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** An object store that is a directory, and rows that are a map. */
    private static final class Shelf implements TemplateStore {

        private final Path root;
        private final Map<String, Located> rows = new ConcurrentHashMap<>();
        private final AtomicInteger fetches = new AtomicInteger();
        private final AtomicInteger uploads = new AtomicInteger();
        private volatile Runnable onFetch = () -> {};

        Shelf(Path root) {
            this.root = root;
        }

        @Override
        public Optional<Located> find(String digest) {
            return Optional.ofNullable(rows.get(digest));
        }

        @Override
        public Optional<Located> named(String name) {
            return rows.values().stream().filter(l -> l.name().equals(name)).findAny();
        }

        @Override
        public void fetch(String digest, Path staging, TransferControl control) {
            fetches.incrementAndGet();
            control.progress(1L << 20, 3L << 20);
            onFetch.run();
            copy(root.resolve(digest), staging);
        }

        @Override
        public boolean publish(String digest, String name, Path from, TransferControl control) {
            if (rows.containsKey(digest)) {
                return false;
            }
            uploads.incrementAndGet();
            control.progress(0, 1);
            if (control.cancelled()) {
                throw new TransferCancelledException("the copy");
            }
            copy(from, make(root.resolve(digest)));
            rows.put(digest, new Located(digest, name, 3L << 20, 10));
            return true;
        }

        private static Path make(Path at) {
            try {
                return Files.createDirectories(at);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static void copy(Path from, Path to) {
            try {
                for (Path file : Volume.children(from)) {
                    Files.copy(file, to.resolve(file.getFileName().toString()));
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @BeforeEach
    void open() throws IOException {
        shelf = new Shelf(directory.resolve("store"));
        Path built = Files.createDirectories(directory.resolve("a/cache/templates/" + DIGEST));
        Files.writeString(built.resolve("rootfs.ext4"), "the root");
        Files.writeString(
                built.resolve("template.json"),
                """
                {"name": "t", "digest": "%s", "rootfs": "%s", "bundle": "%s", "user": "u",
                 "uid": 1, "gid": 1, "home": "/", "minDiskMiB": 1}
                """
                        .formatted(DIGEST, ROOTFS, BUNDLE));
        Files.createDirectories(directory.resolve("a/names"));
        Files.writeString(directory.resolve("a/names/t"), DIGEST + "\n");
        builder = node("a", volume("a"));
        otherVolume = volume("b");
        other = node("b", otherVolume);
    }

    private Volume volume(String node) {
        return new Volume(directory.resolve(node).resolve("volume"), new CopyCloner(), 0);
    }

    private CacheTemplates node(String node, Volume volume) {
        Path own = directory.resolve(node);
        return new CacheTemplates(
                own.resolve("cache"),
                own.resolve("names"),
                volume,
                shelf,
                (template, size, root, target) -> start(volume, size, root, target));
    }

    private static void start(Volume volume, Size size, Path root, Path target) {
        try {
            assertThat(root.resolve("disk")).hasContent("the root");
            Path staged = volume.newStaging("start");
            DurableFiles.writeNew(
                    staged.resolve(StartMeta.FILE),
                    Json.MAPPER.writeValueAsBytes(
                            new StartMeta(DIGEST, size, "fake", BUNDLE, GuestToken.fresh(), "")));
            volume.publish(staged, target);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void publish() {
        new TemplatePublisher(builder, shelf, () -> false).look();
    }

    private static void failsWith(ErrorCode code, Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        SpaceException.class, e -> assertThat(e.code()).isEqualTo(code));
    }

    @Test
    void whatOneNodeBuiltStartsOnTheOther() {
        failsWith(ErrorCode.UNKNOWN_TEMPLATE, () -> other.start(DIGEST, Size.XS));
        failsWith(ErrorCode.UNKNOWN_TEMPLATE, () -> other.requireKnown(DIGEST));
        publish();
        other.requireKnown(DIGEST);
        assertThat(other.isReady(DIGEST, Size.XS)).isFalse();
        assertThat(other.start(DIGEST, Size.XS).bundle()).isEqualTo(BUNDLE);
        assertThat(other.isReady(DIGEST, Size.XS)).isTrue();
        assertThat(other.info(DIGEST)).isEqualTo(builder.info(DIGEST));
        assertThat(other.states())
                .as("its name may mean another one here")
                .containsExactly(new TemplateSource.State(DIGEST, "t", List.of(Size.XS), false));
        assertThat(node("b", otherVolume).info(DIGEST).name()).as("after a restart").isEqualTo("t");
    }

    @Test
    void aBurstFetchesOnceAndProgressIsSeen() throws Exception {
        publish();
        CountDownLatch asked = new CountDownLatch(AT_ONCE);
        List<String> seen = new ArrayList<>();
        shelf.onFetch =
                () -> {
                    await(asked);
                    seen.add(other.progress());
                };
        List<Future<Path>> all = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < AT_ONCE; i++) {
                all.add(
                        threads.submit(() -> {
                            asked.countDown();
                            return other.root(DIGEST);
                        }));
            }
        }
        for (Future<Path> each : all) {
            assertThat(each.get().resolve("disk")).hasContent("the root");
        }
        assertThat(shelf.fetches).hasValue(1);
        assertThat(seen).containsExactly("template t is being fetched, 1 of 3 MiB");
        assertThat(other.progress()).isEmpty();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aFailureIsToldToAllAndNotKept() {
        publish();
        CountDownLatch asked = new CountDownLatch(AT_ONCE);
        shelf.onFetch =
                () -> {
                    await(asked);
                    throw new SpaceException(ErrorCode.SNAPSHOT_CORRUPT, "pack p is cut");
                };
        List<Future<StartFiles>> all = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < AT_ONCE; i++) {
                all.add(
                        threads.submit(() -> {
                            asked.countDown();
                            return other.start(DIGEST, Size.XS);
                        }));
            }
        }
        assertThat(all)
                .allSatisfy(each ->
                        assertThat(each.exceptionNow())
                                .isInstanceOf(SpaceException.class)
                                .hasMessageContaining("pack p is cut"));
        assertThat(Volume.children(otherVolume.staging())).isEmpty();
        shelf.onFetch = () -> {};
        assertThat(other.start(DIGEST, Size.XS).bundle()).isEqualTo(BUNDLE);
    }

    @Test
    void whatIsAnotherTemplateIsNamedAndNeverUsed() throws IOException {
        publish();
        Path stored = shelf.root.resolve(DIGEST);
        Path json = stored.resolve("template.json");
        String good = Files.readString(json);
        Files.delete(json);
        Files.writeString(json, good.replace(ROOTFS, "3".repeat(64)));
        failsWith(ErrorCode.SNAPSHOT_CORRUPT, () -> other.start(DIGEST, Size.XS));
        Files.delete(json);
        failsWith(ErrorCode.SNAPSHOT_CORRUPT, () -> other.root(DIGEST));
        Files.writeString(json, good);
        Files.writeString(stored.resolve("more"), "");
        failsWith(ErrorCode.SNAPSHOT_CORRUPT, () -> other.root(DIGEST));
        assertThat(other.states()).isEmpty();
        Files.delete(stored.resolve("more"));
        assertThat(other.root(DIGEST).resolve("disk")).hasContent("the root");
    }

    /** What a name means is asked once and kept; a cache that has the name is right. */
    @Test
    void aNameIsBroughtForPreparation() throws IOException {
        assertThat(other.bringNamed("t")).isEmpty();
        publish();
        assertThat(other.bringNamed("t")).contains(DIGEST);
        assertThat(other.states())
                .containsExactly(new TemplateSource.State(DIGEST, "t", List.of(), true));
        assertThat(node("b", otherVolume).states()).isEqualTo(other.states());
        Files.createDirectories(directory.resolve("b/names"));
        Files.writeString(directory.resolve("b/names/t"), "4".repeat(64));
        assertThat(other.states())
                .containsExactly(new TemplateSource.State(DIGEST, "t", List.of(), false));
    }

    @Test
    void itIsStoredOnceAndLaterWhereTheNodeEnds() {
        TemplatePublisher stopped = new TemplatePublisher(builder, shelf, () -> false);
        stopped.stop();
        stopped.look();
        assertThat(shelf.rows).isEmpty();
        TemplatePublisher publisher = new TemplatePublisher(builder, shelf, () -> false);
        publisher.look();
        publisher.look();
        publish();
        assertThat(shelf.uploads).hasValue(1);
        // One that was only fetched is nobody's to store.
        other.root(DIGEST);
        new TemplatePublisher(other, shelf, () -> false).look();
        assertThat(shelf.uploads).hasValue(1);
    }

    /** A release before this one imported the root without its description. */
    @Test
    void aRootWithoutADescriptionGetsOne() throws IOException {
        Files.delete(builder.root(DIGEST).resolve("template.json"));
        publish();
        assertThat(other.root(DIGEST).resolve("disk")).hasContent("the root");
    }
}
