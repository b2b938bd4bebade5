package dev.space.node.sandbox;

import static dev.space.node.sandbox.TestNode.SESSION;
import static dev.space.node.sandbox.TestNode.ref;
import static dev.space.node.sandbox.TestNode.snapshot;
import static dev.space.node.sandbox.TestNode.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.contract.node.EndSandbox;
import dev.space.contract.node.PreserveDisk;
import dev.space.contract.node.ReleaseSession;
import dev.space.contract.node.SnapshotTaken;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.volumes.Volume;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The process ends at each point of each step; opened again, the retry finishes the step. */
final class CrashPointTest {

    @TempDir Path directory;
    private TestNode node;

    @BeforeEach
    void open() {
        node = new TestNode(directory);
    }

    private void crash(String where, Runnable step) {
        node.crashAt(where);
        assertThatThrownBy(step::run).isInstanceOf(SimulatedCrash.class);
        assertThat(node.crashed()).as("the step passes " + where).isTrue();
        node.restart();
    }

    private void assertNothingHalfMade() {
        assertThat(Volume.children(directory.resolve("main/staging"))).isEmpty();
        assertThat(node.machine.count()).isLessThanOrEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"start.journaled", "start.files", "start.running"})
    void start(String where) {
        crash(where, () -> node.manager().start(TestNode.start(ref(1, 1, 1, 1), null)));
        assertThat(node.machine.count()).as("never handed over, so ended").isZero();
        assertThat(node.state()).isEqualTo("NONE");
        assertNothingHalfMade();
        node.manager().start(TestNode.start(ref(1, 1, 1, 2), null));
        assertThat(node.state()).isEqualTo("RUNNING");
        assertThat(node.reports).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"snapshot.journaled", "snapshot.copied"})
    void pauseBeforePublishGoesOn(String where) {
        node.manager().start(TestNode.start(ref(1, 1, 1, 1), null));
        crash(where, () -> node.manager().pause(take(ref(2, 1, 2, 1), snapshot(1))));
        assertThat(node.state()).isEqualTo("RUNNING");
        assertThat(node.manager().running(SESSION, 1).vm().isStopped()).isFalse();
        assertNothingHalfMade();
        node.manager().pause(take(ref(2, 1, 2, 2), snapshot(1)));
        assertThat(node.state()).isEqualTo("NONE");
        node.manager().start(TestNode.start(ref(3, 2, 3, 1), snapshot(1)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"snapshot.published", "end.journaled", "end.killed", "end.released"})
    void pauseAfterPublishNeverRunsAgain(String where) {
        node.manager().start(TestNode.start(ref(1, 1, 1, 1), null));
        crash(where, () -> node.manager().pause(take(ref(2, 1, 2, 1), snapshot(1))));
        assertThat(node.machine.count()).isZero();
        assertThat(node.state()).isEqualTo("NONE");
        assertThat(node.reports).isEmpty();
        SnapshotTaken taken = node.manager().pause(take(ref(2, 1, 2, 2), snapshot(1)));
        assertThat(taken.stop()).isEqualTo(1);
        node.manager().start(TestNode.start(ref(3, 2, 3, 1), snapshot(1)));
        assertThat(node.state()).isEqualTo("RUNNING");
    }

    @ParameterizedTest
    @ValueSource(strings = {"end.journaled", "end.killed", "end.released"})
    void aPauseHasSucceededOnceItIsPublished(String where) {
        node.manager().start(TestNode.start(ref(1, 1, 1, 1), null));
        node.failAt(where);
        SnapshotTaken taken = node.manager().pause(take(ref(2, 1, 2, 1), snapshot(1)));
        assertThat(taken.snapshot()).isEqualTo(snapshot(1));
        assertThat(node.state()).isEqualTo("STOPPED");
        node.manager().finishEnds();
        assertThat(node.state()).isEqualTo("NONE");
        assertThat(node.machine.count()).isZero();
        assertThat(node.reports).as("it was ended on purpose").isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"snapshot.journaled", "snapshot.copied", "snapshot.published"})
    void checkpoint(String where) {
        node.manager().start(TestNode.start(ref(1, 1, 1, 1), null));
        crash(where, () -> node.manager().checkpoint(take(ref(2, 1, 2, 1), snapshot(1))));
        assertThat(node.state()).isEqualTo("RUNNING");
        node.manager().checkpoint(take(ref(2, 1, 2, 2), snapshot(1)));
        assertThat(node.manager().inspect(SESSION).getFirst().snapshots()).hasSize(1);
        assertThat(node.machine.count()).isEqualTo(1);
        assertNothingHalfMade();
    }

    @ParameterizedTest
    @ValueSource(strings = {"end.journaled", "end.killed", "end.released"})
    void end(String where) {
        node.manager().start(TestNode.start(ref(1, 1, 1, 1), null));
        crash(where, () -> node.manager().end(new EndSandbox(ref(2, 2, 2, 1), "test")));
        assertThat(node.machine.count()).isZero();
        assertThat(node.reports).as("it was ended on purpose").isEmpty();
        node.manager().end(new EndSandbox(ref(2, 2, 2, 2), "test"));
        assertThat(node.state()).isEqualTo("NONE");
    }

    @ParameterizedTest
    @ValueSource(strings = {"end.journaled", "end.killed", "release.ended", "release.buried"})
    void release(String where) {
        node.manager().start(TestNode.start(ref(1, 1, 1, 1), null));
        crash(where, () -> node.manager().release(new ReleaseSession(ref(2, 2, 2, 1))));
        node.manager().release(new ReleaseSession(ref(2, 2, 2, 2)));
        assertThat(node.machine.count()).isZero();
        assertThat(Volume.children(directory.resolve("main/sessions"))).isEmpty();
    }

    @Test
    void preserve() {
        node.manager().start(TestNode.start(ref(1, 1, 1, 1), null));
        node.machine.kill(node.machine.startIds().iterator().next(), VmExit.Reason.PANIC);
        Await.until("the death is noticed", () -> node.state().equals("DEAD"));
        crash(
                "preserve.copied",
                () -> node.manager().preserveDisk(new PreserveDisk(ref(2, 2, 2, 1), snapshot(1))));
        assertThat(node.state()).isEqualTo("DEAD");
        assertThat(node.manager().preserveDisk(new PreserveDisk(ref(2, 2, 2, 2), snapshot(1))))
                .isNotNull();
        assertNothingHalfMade();
    }

    @Test
    void aVmThatDiedWhileTheProcessWasAwayIsReported() {
        node.manager().start(TestNode.start(ref(1, 1, 1, 1), null));
        long startId = node.machine.startIds().iterator().next();
        node.manager().close();
        node.machine.kill(startId, VmExit.Reason.OUT_OF_MEMORY);
        node.restart();
        assertThat(node.state()).isEqualTo("DEAD");
        assertThat(node.reports).containsExactly("1 OUT_OF_MEMORY");
    }
}
