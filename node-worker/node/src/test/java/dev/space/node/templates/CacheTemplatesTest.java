package dev.space.node.templates;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A start snapshot that is not there is made once, for all who ask. */
final class CacheTemplatesTest {

    private static final String DIGEST = "ab".repeat(32);
    private static final int AT_ONCE = 20;

    @TempDir Path directory;
    private final AtomicInteger makings = new AtomicInteger();
    private final CountDownLatch asked = new CountDownLatch(AT_ONCE);
    private volatile boolean fails;
    private CacheTemplates templates;

    @BeforeEach
    void open() throws IOException {
        Path published = directory.resolve("cache/templates").resolve(DIGEST);
        Files.createDirectories(published);
        Files.writeString(published.resolve("rootfs.ext4"), "root");
        Files.writeString(
                published.resolve("template.json"),
                """
                {"name": "t", "bundle": "b", "user": "u", "uid": 1, "gid": 1, "home": "/",
                 "minDiskMiB": 1}
                """);
        Volume volume = new Volume(directory.resolve("volume"), new CopyCloner(), 0);
        templates =
                new CacheTemplates(
                        directory.resolve("cache"),
                        directory.resolve("names"),
                        volume,
                        TemplateStore.NONE,
                        (template, size, root, target) -> make(volume, size, target));
    }

    /** Not before all have asked, so that none finds it done. */
    private void make(Volume volume, Size size, Path target) {
        makings.incrementAndGet();
        try {
            assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
            if (fails) {
                throw new SpaceException(ErrorCode.ENGINE_FAILED, "made to fail");
            }
            Path staged = volume.newStaging("start");
            DurableFiles.writeNew(
                    staged.resolve(StartMeta.FILE),
                    Json.MAPPER.writeValueAsBytes(
                            new StartMeta(DIGEST, size, "fake", "b", GuestToken.fresh(), "")));
            volume.publish(staged, target);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private List<Future<StartFiles>> askAtOnce() {
        List<Future<StartFiles>> all = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < AT_ONCE; i++) {
                all.add(
                        threads.submit(() -> {
                            asked.countDown();
                            return templates.start(DIGEST, Size.XS);
                        }));
            }
        }
        return all;
    }

    @Test
    void aBurstMakesOneAndAllGetIt() throws ExecutionException, InterruptedException {
        List<Future<StartFiles>> all = askAtOnce();
        StartFiles first = all.getFirst().get();
        for (Future<StartFiles> each : all) {
            assertThat(each.get()).isEqualTo(first);
        }
        assertThat(makings).hasValue(1);
        assertThat(templates.isReady(DIGEST, Size.XS)).isTrue();
    }

    /** Another release that uses the cache builds a template of the same name. */
    @Test
    void aNameStandsForWhatThisReleaseBuilt() throws IOException {
        Path published = directory.resolve("cache/templates");
        for (String place : List.of("names", "cache/templates/by-name")) {
            Files.createDirectories(directory.resolve(place));
        }
        Files.writeString(published.resolve("by-name/t"), "cd".repeat(32) + "\n");
        Files.writeString(directory.resolve("names/t"), DIGEST + "\n");
        Files.writeString(directory.resolve("names/.t.12"), "");
        Files.writeString(directory.resolve("names/gone"), "ef".repeat(32) + "\n");
        assertThat(templates.states())
                .containsExactly(new TemplateSource.State(DIGEST, "t", List.of(), true));
    }

    @Test
    void aFailureIsToldToAllAndNotKept() {
        fails = true;
        int failed = 0;
        for (Future<StartFiles> each : askAtOnce()) {
            assertThat(each.state()).isEqualTo(Future.State.FAILED);
            assertThat(each.exceptionNow())
                    .isInstanceOfSatisfying(
                            SpaceException.class,
                            e -> assertThat(e.code()).isEqualTo(ErrorCode.ENGINE_FAILED));
            failed++;
        }
        assertThat(failed).isEqualTo(AT_ONCE);
        fails = false;
        int before = makings.get();
        assertThat(templates.start(DIGEST, Size.XS).bundle()).isEqualTo("b");
        assertThat(makings).hasValue(before + 1);
    }
}
