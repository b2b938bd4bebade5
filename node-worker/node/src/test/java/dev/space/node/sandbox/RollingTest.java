package dev.space.node.sandbox;

import static dev.space.node.sandbox.TestNode.SESSION;
import static dev.space.node.sandbox.TestNode.ref;
import static dev.space.node.sandbox.TestNode.snapshot;
import static dev.space.node.sandbox.TestNode.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import dev.space.contract.node.EndSandbox;
import dev.space.contract.node.SnapshotTaken;
import dev.space.contract.node.StartSandbox;
import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.SessionId;
import dev.space.model.Size;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import dev.space.model.Thinning;
import dev.space.node.engine.spi.GuestPath;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.rolling.Retention;
import dev.space.node.rolling.RollingSettings;
import dev.space.node.rolling.RollingSnapshots;
import dev.space.node.rolling.SnapshotReports;
import dev.space.node.rolling.SteadyTime;
import dev.space.node.templates.FakeTemplates;
import dev.space.node.volumes.SnapshotManifest;
import dev.space.node.volumes.Volume;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Snapshots that the node takes by itself, on the fake engine and a clock of the test's own. */
final class RollingTest {

    private static final long MIB = 1 << 20;

    /** Finer than any two snapshots of a test are apart. */
    private static final Thinning ALL =
            new Thinning(List.of(new Thinning.Tier(Duration.ofMillis(1), Duration.ofDays(9))));

    @TempDir Path directory;
    private TestNode node;
    private final List<String> told = new ArrayList<>();
    private long now = 1_000_000;
    private long free = 100 * MIB;
    private RollingSnapshots rolling;

    private final SnapshotReports reports =
            new SnapshotReports() {
                @Override
                public void taken(SessionId session, Fence start, SnapshotTaken taken) {
                    told.add(taken.kind() + " " + taken.epoch() + "." + taken.stop());
                }

                @Override
                public void removed(SessionId session, Collection<SnapshotId> snapshots, Why why) {
                    told.add(why + " " + snapshots.size());
                }
            };

    @BeforeEach
    void open() {
        node = new TestNode(directory);
        rolling = rolling(20, 60, false);
    }

    private RollingSettings settings(int disk, int full, boolean freeze, String keep, int max) {
        return new RollingSettings(
                Duration.ofSeconds(disk),
                Duration.ofSeconds(full),
                freeze,
                10 * MIB,
                keep.isEmpty() ? ALL : Thinning.parse(keep),
                max);
    }

    private RollingSnapshots rolling(int disk, int full, boolean freeze) {
        return new RollingSnapshots(
                node.manager().rolling(),
                settings(disk, full, freeze, "1m:1h", 100),
                reports,
                () -> free,
                () -> now,
                System::currentTimeMillis,
                Runnable::run);
    }

    private Retention retention(String keep, int max, long atMillis) {
        return new Retention(
                node.manager().rolling(),
                settings(20, 60, false, keep, max),
                reports,
                () -> free,
                new SteadyTime(() -> atMillis, () -> 0));
    }

    private void started() {
        node.manager().start(TestNode.start(ref(1, 1, 1, 1), null));
        rolling.look();
    }

    private void pass(int seconds) {
        for (int i = 0; i < seconds; i++) {
            now += 1000;
            rolling.look();
        }
    }

    private void write(String name, String text) {
        Iterator<ByteString> once = List.of(ByteString.copyFromUtf8(text)).iterator();
        long epoch = node.manager().inspect(SESSION).getFirst().runningEpoch();
        var _ =
                node.manager()
                        .running(SESSION, epoch)
                        .guest()
                        .write(
                                new GuestPath(ByteString.copyFromUtf8(name), ""),
                                0,
                                true,
                                () -> once.hasNext() ? once.next() : null);
    }

    private List<SnapshotManifest> there() {
        return node.manager().rolling().snapshots(SESSION);
    }

    private SnapshotId newest() {
        return there().getLast().taken().snapshot();
    }

    @Test
    void anIdleSandboxHasNone() {
        started();
        pass(300);
        assertThat(told).isEmpty();
        assertThat(there()).isEmpty();
    }

    @Test
    void aChangeIsTakenOnceEachAndNoMore() {
        started();
        write("/a", "1");
        pass(19);
        assertThat(told).isEmpty();
        pass(1);
        assertThat(told).containsExactly("DISK 1.1");
        pass(39);
        assertThat(told).as("nothing changed on its disk since").hasSize(1);
        pass(1);
        assertThat(told).containsExactly("DISK 1.1", "FULL 1.2");
        pass(200);
        assertThat(told).hasSize(2);
        write("/b", "2");
        pass(20);
        assertThat(told).hasSize(3);
    }

    @Test
    void aBusyOneHasTwoDisksBetweenCheckpoints() {
        started();
        for (int i = 0; i < 180; i++) {
            write("/a", "x" + i);
            pass(1);
        }
        assertThat(told)
                .containsExactly(
                        "DISK 1.1",
                        "DISK 1.2",
                        "FULL 1.3",
                        "DISK 1.4",
                        "DISK 1.5",
                        "FULL 1.6",
                        "DISK 1.7",
                        "DISK 1.8",
                        "FULL 1.9");
    }

    @Test
    void eitherKindCanBeOff() {
        rolling = rolling(0, 60, false);
        started();
        write("/a", "1");
        pass(60);
        assertThat(told).containsExactly("FULL 1.1");
        rolling = rolling(0, 0, false);
        write("/a", "2");
        pass(200);
        assertThat(told).hasSize(1);
    }

    @Test
    void afterARestartItGoesOnFromTheManifests() {
        started();
        write("/a", "1");
        pass(60);
        assertThat(told).containsExactly("DISK 1.1", "FULL 1.2");
        node.restart();
        rolling = rolling(20, 60, false);
        pass(200);
        assertThat(told).as("nothing changed over the restart").hasSize(2);
        write("/a", "2");
        pass(60);
        assertThat(told).contains("DISK 1.3");
    }

    @Test
    void aDiskIsWhatTheGuestHadAndBoots() {
        started();
        write("/work", "precious");
        pass(20);
        SnapshotId good = newest();
        assertThat(there().getLast().taken().quiesced()).as("only crash consistent").isFalse();
        node.manager().start(TestNode.start(ref(2, 2, 2, 1), good));
        assertThat(
                        node.manager()
                                .running(SESSION, 2)
                                .guest()
                                .stat(new GuestPath(ByteString.copyFromUtf8("/work"), ""))
                                .size())
                .isEqualTo("precious".length());
    }

    @Test
    void aFrozenDiskSaysSo() {
        rolling = rolling(20, 0, true);
        started();
        write("/a", "1");
        pass(20);
        assertThat(there().getLast().taken().quiesced()).isTrue();
    }

    @Test
    void operationsAfterItAreNewerAndLateOnesStayRefused() {
        started();
        write("/a", "1");
        pass(60);
        SnapshotTaken named = node.manager().checkpoint(take(ref(5, 1, 5, 3), snapshot(9)));
        assertThat(named.stop()).isEqualTo(3);
        write("/a", "2");
        pass(20);
        assertThat(told).contains("DISK 1.4");
        assertThatThrownBy(() -> node.manager().checkpoint(take(ref(4, 1, 4, 1), snapshot(8))))
                .isInstanceOfSatisfying(
                        SpaceException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.STALE_FENCE));
        assertThat(node.manager().pause(take(ref(6, 1, 6, 1), snapshot(7))).stop()).isEqualTo(5);
        pass(100);
        assertThat(told).as("nothing of what is paused").hasSize(3);
    }

    @Test
    void aStepAtWorkIsNotWaitedForAndAWaitingOneGoesFirst() throws Exception {
        started();
        write("/a", "1");
        CompletableFuture<Void> tried = new CompletableFuture<>();
        node.onPlace =
                where -> {
                    if (where.equals("snapshot.copied") && !tried.isDone()) {
                        now += 60_000;
                        CompletableFuture.runAsync(rolling::look).join();
                        tried.complete(null);
                    }
                };
        node.manager().checkpoint(take(ref(2, 1, 2, 1), snapshot(1)));
        assertThat(tried).isDone();
        assertThat(told).as("left out while the checkpoint was made").isEmpty();
        pass(1);
        assertThat(told).isEmpty();
        pass(1);
        assertThat(told).as("made up for soon").containsExactly("FULL 1.2");
    }

    @Test
    void anEndThatComesWhileItWritesBackLeavesNothing() {
        started();
        write("/a", "1");
        RollingSnapshots late =
                new RollingSnapshots(
                        node.manager().rolling(),
                        settings(20, 60, false, "1m:1h", 100),
                        reports,
                        () -> {
                            node.manager().end(new EndSandbox(ref(3, 2, 3, 1), "overtaken"));
                            return free;
                        },
                        () -> now,
                        System::currentTimeMillis,
                        Runnable::run);
        late.look();
        now += 60_000;
        late.look();
        assertThat(told).isEmpty();
        assertThat(there()).isEmpty();
        assertThat(Volume.children(directory.resolve("main/staging"))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "20,rolling.journaled,0",
        "20,rolling.copied,0",
        "20,rolling.published,1",
        "60,snapshot.journaled,0",
        "60,snapshot.copied,0",
        "60,snapshot.published,1"
    })
    void aCrashLeavesAWholeOneOrNone(int every, String where, int left) {
        rolling = every == 20 ? rolling(20, 0, false) : rolling(0, 60, false);
        started();
        write("/a", "1");
        node.crashAt(where);
        pass(every);
        assertThat(node.crashed()).as("it passes " + where).isTrue();
        node.restart();
        assertThat(node.state()).isEqualTo("RUNNING");
        assertThat(node.manager().running(SESSION, 1).vm().isStopped()).isFalse();
        assertThat(there()).hasSize(left);
        assertThat(Volume.children(directory.resolve("main/staging"))).isEmpty();
        rolling = every == 20 ? rolling(20, 0, false) : rolling(0, 60, false);
        rolling.look();
        write("/a", "2");
        pass(every);
        assertThat(there()).hasSize(left + 1);
        long stop = there().getLast().taken().stop();
        assertThat(node.manager().pause(take(ref(2, 1, 2, 1), snapshot(1))).stop())
                .isGreaterThan(stop);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rolling.copied", "snapshot.copied"})
    void aFailureLeavesTheSandboxRunningAndIsTriedAgain(String where) {
        rolling = where.startsWith("rolling") ? rolling(20, 0, false) : rolling(0, 20, false);
        started();
        write("/a", "1");
        node.failAt(where);
        pass(20);
        assertThat(told).isEmpty();
        assertThat(node.state()).isEqualTo("RUNNING");
        assertThat(Volume.children(directory.resolve("main/staging"))).isEmpty();
        pass(20);
        assertThat(told).hasSize(1);
    }

    @Test
    void aShortDiskTakesNoneAndTheOldestGo() {
        started();
        for (int i = 0; i < 100; i++) {
            write("/a", "x" + i);
            pass(1);
        }
        assertThat(there()).hasSize(5);
        final SnapshotId oldest = there().getFirst().taken().snapshot();
        node.manager().checkpoint(take(ref(2, 1, 2, 1), snapshot(1)));
        told.clear();
        free = 9 * MIB;
        write("/a", "more");
        pass(60);
        assertThat(told).isEmpty();
        retention("1m:1h", 100, System.currentTimeMillis()).makeRoom();
        assertThat(told).hasSize(5).allMatch(line -> line.equals("SPACE 1"));
        assertThat(there()).extracting(m -> m.taken().snapshot()).containsExactly(snapshot(1));
        assertThat(there()).extracting(m -> m.taken().snapshot()).doesNotContain(oldest);
        free = 11 * MIB;
        pass(60);
        assertThat(told.getLast()).startsWith("FULL");
    }

    @Test
    void retentionKeepsWhatAnOperationMadeAndWhatTheSandboxBeganWith() {
        started();
        write("/a", "1");
        pass(20);
        final SnapshotId base = newest();
        node.manager().checkpoint(take(ref(2, 1, 2, 1), snapshot(1)));
        for (int i = 0; i < 80; i++) {
            write("/a", "x" + i);
            pass(1);
        }
        final int before = there().size();
        node.manager().start(TestNode.start(ref(3, 2, 3, 1), base));
        long muchLater = System.currentTimeMillis() + Duration.ofDays(30).toMillis();
        // While the end of the VM before is still being noted, retention leaves the session out.
        long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (told.stream().noneMatch(line -> line.startsWith("THINNED"))
                && System.nanoTime() < deadline) {
            retention("1m:1h", 100, muchLater).thin();
        }
        assertThat(before).isGreaterThan(4);
        assertThat(there())
                .extracting(m -> m.taken().snapshot())
                .contains(base, snapshot(1))
                .hasSizeBetween(3, 4);
        told.clear();
        retention("1m:1h", 100, muchLater).thin();
        assertThat(told).as("a second time there is nothing to do").isEmpty();
    }

    @Test
    void aQuotaTakesTheOldest() {
        started();
        for (int i = 0; i < 200; i++) {
            write("/a", "x" + i);
            pass(1);
        }
        List<SnapshotId> all = there().stream().map(m -> m.taken().snapshot()).toList();
        retention("", 4, System.currentTimeMillis()).thin();
        assertThat(there())
                .extracting(m -> m.taken().snapshot())
                .containsExactlyElementsOf(all.subList(all.size() - 4, all.size()));
        assertThat(told.getLast()).isEqualTo("QUOTA " + (all.size() - 4));
    }

    private static StartSandbox recover(int operation, long epoch, @Nullable SnapshotId known) {
        return new StartSandbox(
                ref(operation, epoch, operation, 1),
                FakeTemplates.DEFAULT_DIGEST,
                Size.XS,
                known,
                null,
                "box",
                5,
                true);
    }

    private void die() {
        node.machine.kill(node.machine.startIds().iterator().next(), VmExit.Reason.PANIC);
        Await.until("the death is noticed", () -> node.state().equals("DEAD"));
    }

    @Test
    void aRecoveryStartsFromTheNewestCheckpointThatIsHere() {
        started();
        write("/a", "1");
        pass(60);
        SnapshotId known = newest();
        write("/a", "2");
        pass(60);
        SnapshotId rolled = newest();
        write("/a", "3");
        pass(20);
        die();
        var started = node.manager().start(recover(2, 2, known));
        assertThat(started.source())
                .as("its report may be lost")
                .isNotNull()
                .extracting(SnapshotTaken::snapshot)
                .isEqualTo(rolled);
        assertThat(node.manager().start(recover(2, 2, known))).as("repeated").isEqualTo(started);
        die();
        assertThat(node.manager().start(recover(3, 3, known)).source())
                .as("again, with nothing new since")
                .isEqualTo(started.source());
    }

    @Test
    void aRecoveryDoesNotGoBackToAPastThatWasLeft() {
        started();
        write("/a", "1");
        pass(60);
        SnapshotId target = newest();
        write("/a", "2");
        pass(60);
        node.manager().pause(take(ref(2, 1, 2, 1), snapshot(2)));
        node.manager().start(TestNode.start(ref(2, 2, 2, 2), target));
        die();
        assertThat(node.manager().start(recover(3, 3, target)).source())
                .isNotNull()
                .extracting(SnapshotTaken::snapshot)
                .isEqualTo(target);
    }

    @Test
    void withoutACheckpointARecoverySaysSo() {
        started();
        die();
        assertThatThrownBy(() -> node.manager().start(recover(2, 2, null)))
                .isInstanceOfSatisfying(
                        SpaceException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.SNAPSHOT_NOT_FOUND));
    }
}
