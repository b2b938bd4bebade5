package dev.space.node.sandbox;

import static dev.space.node.sandbox.TestNode.SESSION;
import static dev.space.node.sandbox.TestNode.command;
import static dev.space.node.sandbox.TestNode.ref;
import static dev.space.node.sandbox.TestNode.snapshot;
import static dev.space.node.sandbox.TestNode.start;
import static dev.space.node.sandbox.TestNode.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.contract.node.DeleteSnapshot;
import dev.space.contract.node.EndSandbox;
import dev.space.contract.node.PreserveDisk;
import dev.space.contract.node.ReleaseSession;
import dev.space.contract.node.SandboxStarted;
import dev.space.contract.node.SnapshotTaken;
import dev.space.model.ErrorCode;
import dev.space.model.SnapshotKind;
import dev.space.model.SpaceException;
import dev.space.node.dataplane.OutputLog;
import dev.space.node.dataplane.SandboxProcess;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.volumes.Volume;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SandboxManagerTest {

    @TempDir Path directory;
    private TestNode node;

    @BeforeEach
    void open() {
        node = new TestNode(directory);
    }

    private static void assertCode(ErrorCode code, Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        SpaceException.class, e -> assertThat(e.code()).isEqualTo(code));
    }

    private String run(long epoch, String id, String line) throws InterruptedException {
        SandboxProcess process =
                node.manager().running(SESSION, epoch).processes().start(command(id, line));
        assertThat(process.await(Duration.ofSeconds(5))).isTrue();
        try (OutputLog.Reader reader = process.log(false).reader(0)) {
            return TestNode.text(reader.next(1 << 16, Duration.ZERO).data());
        }
    }

    @Test
    void aRetriedStartFindsTheFirstAttemptsSandbox() {
        SandboxStarted first = node.manager().start(start(ref(1, 1, 1, 1), null));
        SandboxStarted second = node.manager().start(start(ref(1, 1, 1, 2), null));
        assertThat(second).isEqualTo(first);
        assertThat(second.attempt()).isEqualTo(1);
        assertThat(node.machine.count()).isEqualTo(1);
    }

    @Test
    void aStaleCallTouchesNothing() {
        node.manager().start(start(ref(2, 2, 2, 1), null));
        assertCode(
                ErrorCode.STALE_FENCE,
                () -> node.manager().end(new EndSandbox(ref(1, 1, 9, 9), "late")));
        assertCode(ErrorCode.STALE_FENCE, () -> node.manager().start(start(ref(1, 1, 1, 1), null)));
        assertThat(node.state()).isEqualTo("RUNNING");
    }

    @Test
    void aNewerEpochEndsTheOlderVmFirst() {
        node.manager().start(start(ref(1, 1, 1, 1), null));
        node.manager().start(start(ref(2, 2, 2, 1), null));
        assertThat(node.machine.count()).isEqualTo(1);
        assertCode(ErrorCode.STALE_FENCE, () -> node.manager().running(SESSION, 1));
        assertThat(node.manager().running(SESSION, 2).start().epoch()).isEqualTo(2);
    }

    @Test
    void pauseAndResumeKeepFilesProcessesAndOutput() throws InterruptedException {
        node.manager().start(start(ref(1, 1, 1, 1), null));
        assertThat(run(1, "w", "echo kept > note")).isEmpty();
        SandboxProcess counter =
                node.manager().running(SESSION, 1).processes().start(command("c", "counter"));
        Await.until("the counter counts", () -> counter.log(false).end() > 20);

        SnapshotTaken taken = node.manager().pause(take(ref(2, 1, 2, 1), snapshot(1)));
        assertThat(taken.quiesced()).isTrue();
        assertThat(taken.kind()).isEqualTo(SnapshotKind.FULL);
        assertThat(node.machine.count()).isZero();
        assertThat(node.state()).isEqualTo("NONE");
        assertThat(node.manager().pause(take(ref(2, 1, 2, 2), snapshot(1)))).isEqualTo(taken);

        SandboxStarted resumed = node.manager().start(start(ref(3, 2, 3, 1), snapshot(1)));
        assertThat(resumed.memoryLost()).isFalse();
        assertThat(run(2, "r", "cat note")).isEqualTo("kept\n");
        SandboxProcess again = node.manager().running(SESSION, 2).processes().require("c");
        long before = counter.log(false).end();
        Await.until("it counts on", () -> again.log(false).end() > before + 20);
        assertNoGap(again);
    }

    private static void assertNoGap(SandboxProcess counter) throws InterruptedException {
        try (OutputLog.Reader reader = counter.log(false).reader(0)) {
            String text = TestNode.text(reader.next(1 << 16, Duration.ZERO).data());
            String[] lines = text.substring(0, text.lastIndexOf('\n')).split("\n", -1);
            for (int i = 0; i < lines.length; i++) {
                assertThat(lines[i]).isEqualTo(Integer.toString(i + 1));
            }
        }
    }

    @Test
    void aCheckpointLeavesTheSandboxRunningAndCanBeResumed() throws InterruptedException {
        node.manager().start(start(ref(1, 1, 1, 1), null));
        var _ = run(1, "a", "echo one > f");
        SnapshotTaken taken = node.manager().checkpoint(take(ref(2, 1, 2, 1), snapshot(1)));
        assertThat(taken.stop()).isEqualTo(1);
        var _ = run(1, "b", "echo two > f");
        assertThat(node.manager().checkpoint(take(ref(3, 1, 3, 1), snapshot(2))).stop())
                .isEqualTo(2);
        node.manager().start(start(ref(4, 2, 4, 1), snapshot(1)));
        assertThat(run(2, "c", "cat f")).isEqualTo("one\n");
    }

    @Test
    void aDeadSandboxIsReportedAndItsDiskCanBePreserved() throws InterruptedException {
        node.manager().start(start(ref(1, 1, 1, 1), null));
        var _ = run(1, "a", "echo kept > f");
        long startId = node.machine.startIds().iterator().next();
        node.machine.kill(startId, VmExit.Reason.OUT_OF_MEMORY);
        Await.until("the death is noticed", () -> node.state().equals("DEAD"));
        assertThat(node.reports).containsExactly("1 OUT_OF_MEMORY");

        SnapshotTaken disk =
                Objects.requireNonNull(
                        node.manager()
                                .preserveDisk(new PreserveDisk(ref(2, 2, 2, 1), snapshot(3))));
        assertThat(disk.kind()).isEqualTo(SnapshotKind.DISK);
        SandboxStarted booted = node.manager().start(start(ref(2, 2, 2, 2), snapshot(3)));
        assertThat(booted.rung()).isEqualTo("boot");
        assertThat(booted.memoryLost()).isFalse();
        assertThat(run(2, "b", "cat f")).isEqualTo("kept\n");
    }

    /** A rollback that another run of the workflow carries on must not keep its own result. */
    @Test
    void anOperationTakesNoSnapshotOfTheSandboxThatItStarted() {
        node.manager().start(start(ref(1, 1, 1, 1), null));
        var snapshot = snapshot(1);
        assertCode(
                ErrorCode.PRECONDITION_FAILED,
                () -> node.manager().pause(take(ref(1, 1, 1, 2), snapshot)));
        assertThat(node.manager().sandboxes()).hasSize(1);
        node.manager().pause(take(ref(2, 1, 2, 1), snapshot));
        assertThat(node.manager().sandboxes()).isEmpty();
    }

    @Test
    void preserveFindsNothingWhereNothingDied() {
        assertThat(node.manager().preserveDisk(new PreserveDisk(ref(1, 1, 1, 1), snapshot(1))))
                .isNull();
    }

    @Test
    void releaseLeavesNothingButItsFence() {
        node.manager().start(start(ref(1, 1, 1, 1), null));
        node.manager().checkpoint(take(ref(2, 1, 2, 1), snapshot(1)));
        node.manager().release(new ReleaseSession(ref(3, 2, 3, 1)));
        node.manager().release(new ReleaseSession(ref(3, 2, 3, 2)));
        assertThat(node.machine.count()).isZero();
        assertThat(Volume.children(directory.resolve("main/sessions"))).isEmpty();
        assertCode(ErrorCode.STALE_FENCE, () -> node.manager().start(start(ref(1, 1, 1, 9), null)));
        node.restart();
        assertCode(ErrorCode.STALE_FENCE, () -> node.manager().start(start(ref(1, 1, 1, 9), null)));
        assertThat(Volume.children(directory.resolve("main/sessions"))).isEmpty();
    }

    @Test
    void anEndBeforeTheStartFencesTheStart() {
        node.manager().end(new EndSandbox(ref(1, 1, 1, 5), "undo"));
        assertCode(ErrorCode.STALE_FENCE, () -> node.manager().start(start(ref(1, 1, 1, 1), null)));
    }

    @Test
    void snapshotsAreDeletedByName() {
        node.manager().start(start(ref(1, 1, 1, 1), null));
        node.manager().checkpoint(take(ref(2, 1, 2, 1), snapshot(1)));
        node.manager().deleteSnapshot(new DeleteSnapshot(ref(3, 1, 3, 1), snapshot(1)));
        node.manager().deleteSnapshot(new DeleteSnapshot(ref(3, 1, 3, 1), snapshot(1)));
        assertThat(node.manager().inspect(SESSION).getFirst().snapshots()).isEmpty();
        assertCode(
                ErrorCode.SNAPSHOT_NOT_FOUND,
                () -> node.manager().start(start(ref(4, 2, 4, 1), snapshot(1))));
    }

    @Test
    void theControlPlanesNewerEpochEndsTheVmAndKeepsItsDisk() {
        node.manager().start(start(ref(1, 1, 1, 1), null));
        node.manager().endOlderThan(SESSION, 2);
        assertThat(node.machine.count()).isZero();
        assertThat(node.state()).isEqualTo("DEAD");
        assertThat(Files.exists(directory.resolve("main/sessions/" + SESSION + "/live/disk")))
                .isTrue();
        assertCode(ErrorCode.STALE_FENCE, () -> node.manager().start(start(ref(1, 1, 1, 2), null)));
    }

    @Test
    void runningSandboxesOutliveTheProcess() throws InterruptedException {
        node.manager().start(start(ref(1, 1, 1, 1), null));
        SandboxProcess counter =
                node.manager().running(SESSION, 1).processes().start(command("c", "counter"));
        Await.until("the counter counts", () -> counter.log(false).end() > 20);
        node.restart();
        assertThat(node.state()).isEqualTo("RUNNING");
        SandboxProcess again = node.manager().running(SESSION, 1).processes().require("c");
        long before = again.log(false).end();
        Await.until("it counts on", () -> again.log(false).end() > before + 20);
        assertNoGap(again);
        assertThat(node.manager().start(start(ref(1, 1, 1, 2), null)).attempt()).isEqualTo(1);
        assertThat(node.reports).isEmpty();
    }

    @Test
    void whatWasHeldForWantOfSpaceStaysSoOverARestart() {
        node.manager().start(TestNode.start(ref(1, 1, 1, 1), null));
        assertThat(node.manager().running(SESSION, 1).vm().held().hold()).isTrue();
        node.restart();
        assertThat(node.manager().running(SESSION, 1).vm().held().isHeld()).isTrue();

        node.manager().running(SESSION, 1).vm().held().letGo();
        node.restart();
        assertThat(node.manager().running(SESSION, 1).vm().held().isHeld())
                .as("one that was not held goes on")
                .isFalse();
    }

    @Test
    void memoryAndSlotsAreNotPromisedTwice() {
        node.memoryBytes = 300L << 20;
        node.restart();
        assertCode(ErrorCode.NO_CAPACITY, () -> node.manager().start(start(ref(1, 1, 1, 1), null)));
        node.memoryBytes = 8L << 30;
        node.slots = 0;
        node.restart();
        assertCode(ErrorCode.NO_CAPACITY, () -> node.manager().start(start(ref(1, 1, 1, 1), null)));
    }
}
