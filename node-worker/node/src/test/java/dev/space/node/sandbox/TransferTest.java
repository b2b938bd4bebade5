package dev.space.node.sandbox;

import static dev.space.node.sandbox.TestNode.SESSION;
import static dev.space.node.sandbox.TestNode.command;
import static dev.space.node.sandbox.TestNode.ref;
import static dev.space.node.sandbox.TestNode.snapshot;
import static dev.space.node.sandbox.TestNode.start;
import static dev.space.node.sandbox.TestNode.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.contract.node.DownloadSnapshot;
import dev.space.contract.node.EndSandbox;
import dev.space.contract.node.ReleaseSession;
import dev.space.contract.node.SnapshotTaken;
import dev.space.contract.node.SnapshotUploaded;
import dev.space.contract.node.StepRef;
import dev.space.contract.node.UploadSnapshot;
import dev.space.contract.session.DurableRef;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.ErrorCode;
import dev.space.model.Size;
import dev.space.model.SpaceException;
import dev.space.node.dataplane.SandboxProcess;
import dev.space.node.templates.FakeTemplates;
import dev.space.node.volumes.SnapshotManifest;
import dev.space.node.volumes.Volume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Snapshots to an object store and back on another node. */
final class TransferTest {

    @TempDir Path directory;
    private final Executor threads = Executors.newVirtualThreadPerTaskExecutor();
    private DirectoryStore store;
    private TestNode node;
    private TestNode other;

    @BeforeEach
    void open() {
        store = new DirectoryStore(directory.resolve("bucket"));
        node = new TestNode(directory.resolve("a"), store);
        other = new TestNode(directory.resolve("b"), store);
        node.manager().start(start(ref(1, 1, 1, 1), null));
    }

    private SnapshotTaken paused() {
        return node.manager().pause(take(ref(2, 1, 2, 1), snapshot(1)));
    }

    private SnapshotUploaded upload(long attempt, @Nullable DurableRef previous) {
        return node.manager()
                .upload(
                        new UploadSnapshot(
                                ref(2, 1, 2, attempt), snapshot(1), 7, "ses_x", previous, false),
                        (_, _) -> {});
    }

    private static DurableRef stored(SnapshotTaken taken, SnapshotUploaded up) {
        return new DurableRef(
                new SnapshotRef(
                        taken.snapshot(),
                        taken.kind(),
                        "a",
                        taken.epoch(),
                        taken.stop(),
                        taken.bytes(),
                        taken.takenAtMillis()),
                "ses_x",
                up.manifestKey(),
                up.manifestDigest(),
                up.bytesStored(),
                up.bytesUploaded(),
                up.bytesLogical());
    }

    private static SnapshotTaken download(TestNode on, StepRef ref, DurableRef source) {
        return on.manager()
                .download(
                        new DownloadSnapshot(ref, source, FakeTemplates.DEFAULT_DIGEST, Size.XS),
                        (_, _) -> {});
    }

    private static void refused(ErrorCode code, Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        SpaceException.class, e -> assertThat(e.code()).isEqualTo(code));
    }

    private static void nothingHalfMade(TestNode on) {
        assertThat(Volume.children(on.directory().resolve("main/staging"))).isEmpty();
    }

    @Test
    void itsProcessesGoOnOnAnotherNode() throws InterruptedException {
        SandboxProcess counter =
                node.manager().running(SESSION, 1).processes().start(command("c", "counter"));
        Await.until("the counter counts", () -> counter.log(false).end() > 20);
        SnapshotTaken taken = paused();
        long then = counter.log(false).end();
        DurableRef stored = stored(taken, upload(100_001, null));

        assertThat(download(other, ref(3, 2, 3, 1), stored)).isEqualTo(taken);
        assertThat(download(other, ref(3, 2, 3, 2), stored)).as("again").isEqualTo(taken);
        var started = other.manager().start(start(ref(3, 2, 3, 100_001), taken.snapshot()));
        assertThat(started.memoryLost()).isFalse();
        SandboxProcess own = other.manager().running(SESSION, 2).processes().require("c");
        Await.until("it counts on", () -> own.log(false).end() > then + 20);
        nothingHalfMade(other);
        assertThat(node.snapshots().find(SESSION, taken.snapshot()))
                .as("the copy on its node stays")
                .isPresent();
    }

    @Test
    void aSecondUploadIsToldWhatItIsBuiltOn() {
        SnapshotTaken taken = paused();
        DurableRef first = stored(taken, upload(100_001, null));
        upload(200_001, first);
        assertThat(store.previous).containsExactly(first.manifestKey());
    }

    @Test
    void whatIsNotThereIsNotUploaded() {
        refused(ErrorCode.SNAPSHOT_NOT_FOUND, () -> upload(100_001, null));
        assertThat(node.state()).as("and what runs goes on").isEqualTo("RUNNING");
    }

    @Test
    void aHigherFenceEndsAnUploadAndWaitsForItsEnd() throws Exception {
        paused();
        CountDownLatch sending = new CountDownLatch(1);
        CountDownLatch fenced = new CountDownLatch(1);
        store.onFile =
                () -> {
                    sending.countDown();
                    await(fenced);
                };
        CompletableFuture<SnapshotUploaded> upload =
                CompletableFuture.supplyAsync(() -> upload(100_001, null), threads);
        assertThat(sending.await(10, TimeUnit.SECONDS)).isTrue();
        CompletableFuture<Void> end =
                CompletableFuture.runAsync(
                        () ->
                                node.manager()
                                        .end(new EndSandbox(ref(2, 1, 2, 200_001), "cancelled")),
                        threads);
        Await.until("the fence is announced", () -> isAnnounced(200_001));
        assertThat(end.isDone()).isFalse();
        fenced.countDown();
        end.get(10, TimeUnit.SECONDS);
        assertThat(upload).failsWithin(Duration.ofSeconds(10));
        assertThat(upload.exceptionNow()).hasMessageContaining("lower");
        refused(ErrorCode.STALE_FENCE, () -> upload(100_002, null));
        store.onFile = () -> {};
        assertThat(upload(300_001, null)).as("a new one starts over").isNotNull();
    }

    /** A step of that fence is there, although the one before it is at work. */
    private boolean isAnnounced(long attempt) {
        return node.manager().isOvertaken(ref(2, 1, 2, attempt - 1));
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(10, TimeUnit.SECONDS)) {
                throw new AssertionError("nobody came");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aDestroyEndsADownloadAndNothingIsLeft() throws Exception {
        DurableRef stored = stored(paused(), upload(100_001, null));
        CountDownLatch fetching = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        store.onFile =
                () -> {
                    fetching.countDown();
                    await(released);
                };
        CompletableFuture<SnapshotTaken> download =
                CompletableFuture.supplyAsync(
                        () -> download(other, ref(3, 2, 3, 1), stored), threads);
        assertThat(fetching.await(10, TimeUnit.SECONDS)).isTrue();
        CompletableFuture<Void> release =
                CompletableFuture.runAsync(
                        () -> other.manager().release(new ReleaseSession(ref(4, 2, 4, 1))),
                        threads);
        Await.until("the release is there", () -> other.manager().isOvertaken(ref(3, 2, 3, 1)));
        released.countDown();
        release.get(10, TimeUnit.SECONDS);
        assertThat(download).failsWithin(Duration.ofSeconds(10));
        assertThat(Volume.children(other.directory().resolve("main/sessions"))).isEmpty();
        nothingHalfMade(other);
        refused(ErrorCode.STALE_FENCE, () -> download(other, ref(3, 2, 3, 2), stored));
    }

    @Test
    void whatIsDamagedIsNeverPublished() throws IOException {
        DurableRef stored = stored(paused(), upload(100_001, null));
        Path manifest = store.file(stored.manifestKey(), SnapshotManifest.FILE);
        byte[] good = Files.readAllBytes(manifest);
        Files.writeString(manifest, "{}");
        refused(ErrorCode.SNAPSHOT_CORRUPT, () -> download(other, ref(3, 2, 3, 1), stored));
        Files.delete(manifest);
        refused(ErrorCode.SNAPSHOT_CORRUPT, () -> download(other, ref(3, 2, 3, 2), stored));
        assertThat(other.snapshots().list(SESSION)).isEmpty();
        nothingHalfMade(other);
        Files.write(manifest, good);
        assertThat(download(other, ref(3, 2, 3, 3), stored)).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"transfer.begun", "upload.done"})
    void anUploadIsDoneAgainAfterACrash(String where) {
        SnapshotTaken taken = paused();
        node.crashAt(where);
        assertThatThrownBy(() -> upload(100_001, null)).isInstanceOf(SimulatedCrash.class);
        assertThat(node.crashed()).isTrue();
        node.restart();
        refused(ErrorCode.STALE_FENCE, () -> upload(1, null));
        DurableRef stored = stored(taken, upload(100_002, null));
        assertThat(download(other, ref(3, 2, 3, 1), stored)).isEqualTo(taken);
    }

    @ParameterizedTest
    @ValueSource(strings = {"transfer.begun", "download.staged", "download.published"})
    void aDownloadIsDoneAgainAfterACrash(String where) {
        SnapshotTaken taken = paused();
        DurableRef stored = stored(taken, upload(100_001, null));
        other.crashAt(where);
        assertThatThrownBy(() -> download(other, ref(3, 2, 3, 1), stored))
                .isInstanceOf(SimulatedCrash.class);
        assertThat(other.crashed()).isTrue();
        other.restart();
        nothingHalfMade(other);
        assertThat(download(other, ref(3, 2, 3, 2), stored)).isEqualTo(taken);
        assertThat(
                        Objects.requireNonNull(
                                other.manager().start(start(ref(3, 2, 3, 100_001), snapshot(1)))))
                .isNotNull();
    }

    @Test
    void aVmOfAnEpochThatIsOverEndsBeforeADownload() {
        SnapshotTaken taken = node.manager().checkpoint(take(ref(2, 1, 2, 1), snapshot(1)));
        DurableRef stored =
                new DurableRef(
                        new SnapshotRef(taken.snapshot(), taken.kind(), "a", 1, 1, 1, 1),
                        "ses_x",
                        "none",
                        "digest",
                        1,
                        1,
                        1);
        assertThat(download(node, ref(3, 2, 3, 1), stored)).isEqualTo(taken);
        assertThat(node.machine.count()).isZero();
    }

    @Test
    void withoutAnObjectStoreItSaysSo() {
        TestNode alone = new TestNode(directory.resolve("c"));
        alone.manager().start(start(ref(1, 1, 1, 1), null));
        alone.manager().pause(take(ref(2, 1, 2, 1), snapshot(1)));
        refused(
                ErrorCode.OBJECT_STORE_UNAVAILABLE,
                () ->
                        alone.manager()
                                .upload(
                                        new UploadSnapshot(
                                                ref(2, 1, 2, 2),
                                                snapshot(1),
                                                1,
                                                "ses_x",
                                                null,
                                                false),
                                        (_, _) -> {}));
    }
}
