package dev.space.node.sandbox;

import static dev.space.node.sandbox.TestNode.SESSION;
import static dev.space.node.sandbox.TestNode.command;
import static dev.space.node.sandbox.TestNode.ref;
import static dev.space.node.sandbox.TestNode.snapshot;
import static dev.space.node.sandbox.TestNode.start;
import static dev.space.node.sandbox.TestNode.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.contract.node.ReleaseSession;
import dev.space.contract.node.SandboxStarted;
import dev.space.contract.node.StartSandbox;
import dev.space.contract.node.StepRef;
import dev.space.model.Fence;
import dev.space.model.SessionId;
import dev.space.model.Size;
import dev.space.node.dataplane.OutputLog;
import dev.space.node.dataplane.SandboxProcess;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.pool.PoolSettings;
import dev.space.node.templates.FakeTemplates;
import dev.space.node.templates.WarmUp;
import dev.space.node.volumes.Volume;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** VMs made ahead: who gets them, what happens when one is of no use, and that none is left. */
final class PoolTest {

    @TempDir Path directory;
    private TestNode node;

    @BeforeEach
    void open() {
        node = new TestNode(directory);
    }

    @AfterEach
    void close() {
        node.closePool();
    }

    private void awaitPool(int hot, int prepared) {
        Await.until(
                "the pool is full",
                () -> node.pool().hotCount() == hot && node.pool().preparedCount() == prepared);
    }

    private String run(String id, String line) throws InterruptedException {
        SandboxProcess process =
                node.manager().running(SESSION, 1).processes().start(command(id, line));
        assertThat(process.await(Duration.ofSeconds(5))).isTrue();
        try (OutputLog.Reader reader = process.log(false).reader(0)) {
            return TestNode.text(reader.next(1 << 16, Duration.ZERO).data());
        }
    }

    private List<Path> staged() {
        return Volume.children(directory.resolve("main/staging"));
    }

    private static StartSandbox fresh(SessionId session) {
        StepRef ref = new StepRef(session, TestNode.operation(1), new Fence(1, 1, 1));
        return new StartSandbox(ref, FakeTemplates.DEFAULT_DIGEST, Size.XS, null, null, "box", 5);
    }

    @Test
    void aSessionGetsAHotVm() throws InterruptedException {
        node.restartWithPool(1, 0);
        awaitPool(1, 0);
        Set<Long> waiting = node.machine.startIds();
        SandboxStarted started = node.manager().start(start(ref(1, 1, 1, 1), null));
        assertThat(started.rung()).isEqualTo("hot");
        assertThat(node.machine.startIds()).containsAll(waiting);
        assertThat(node.manager().running(SESSION, 1).vm().isStopped()).isFalse();
        assertThat(node.manager().running(SESSION, 1).processes().list()).isEmpty();
        assertThat(run("w", "echo mine > f; cat f")).isEqualTo("mine\n");
        assertThat(node.manager().running(SESSION, 1).vm().held().hold())
                .as("the guard of the disk may hold it")
                .isTrue();
        node.manager().running(SESSION, 1).vm().held().letGo();
        assertThat(node.manager().start(start(ref(1, 1, 1, 2), null)))
                .as("a retry finds it")
                .isEqualTo(started);
        awaitPool(1, 0);
    }

    /** Of four in a row the first finds a hot one; the next four find four. */
    @Test
    void itFollowsTheDemand() {
        node.slots = 64;
        node.memoryBytes = 64L << 30;
        node.restartWithPool(PoolSettings.BY_DEMAND, 0);
        awaitPool(1, 0);
        for (int i = 0; i < 4; i++) {
            node.manager().start(fresh(WarmUp.nobody()));
        }
        awaitPool(4, 0);
        assertThat(node.pool().targetCount()).isEqualTo(4);
        for (int i = 0; i < 4; i++) {
            assertThat(node.manager().start(fresh(WarmUp.nobody())).rung()).isEqualTo("hot");
        }
    }

    @Test
    void aHotVmIsPausedResumedAndReleasedLikeAnyOther() throws InterruptedException {
        node.restartWithPool(1, 1);
        awaitPool(1, 1);
        node.manager().start(start(ref(1, 1, 1, 1), null));
        assertThat(run("w", "echo kept > f")).isEmpty();
        node.manager().pause(take(ref(2, 1, 2, 1), snapshot(1)));
        awaitPool(1, 1);
        SandboxStarted resumed = node.manager().start(start(ref(3, 1, 3, 1), snapshot(1)));
        assertThat(resumed.rung()).isEqualTo("prepared");
        assertThat(resumed.memoryLost()).isFalse();
        assertThat(run("r", "cat f")).isEqualTo("kept\n");
        node.manager().release(new ReleaseSession(ref(4, 2, 4, 1)));
        node.closePool();
        assertThat(node.machine.count()).isZero();
        assertThat(Volume.children(directory.resolve("main/sessions"))).isEmpty();
        assertThat(staged()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "start.taken,1,1,prepared", "start.journaled,1,0,cold", "start.files,1,1,prepared",
        "start.running,1,0,cold", "start.files,0,1,cold", "start.running,0,1,cold"
    })
    void aRungThatFailsFallsToTheNextInTheSameSession(
            String where, int hot, int prepared, String rung) {
        node.restartWithPool(hot, prepared);
        awaitPool(hot, prepared);
        node.failAt(where);
        SandboxStarted started = node.manager().start(start(ref(1, 1, 1, 1), null));
        assertThat(started.rung()).isEqualTo(rung);
        assertThat(node.state()).isEqualTo("RUNNING");
        assertThat(node.reports).isEmpty();
        node.manager().release(new ReleaseSession(ref(2, 2, 2, 1)));
        node.closePool();
        assertThat(node.machine.count()).isZero();
        assertThat(staged()).isEmpty();
        assertThat(node.memory().freeBytes()).isEqualTo(node.memory().totalBytes());
    }

    @ParameterizedTest
    @CsvSource({
        "start.taken,1,0", "start.journaled,1,0", "start.files,1,0", "start.running,1,0",
        "start.taken,0,1", "start.journaled,0,1", "start.files,0,1", "start.running,0,1"
    })
    void killedWhileAVmIsBoundNothingOfItIsLeft(String where, int hot, int prepared) {
        node.restartWithPool(hot, prepared);
        awaitPool(hot, prepared);
        node.crashAt(where);
        assertThatThrownBy(() -> node.manager().start(start(ref(1, 1, 1, 1), null)))
                .isInstanceOf(SimulatedCrash.class);
        node.restartWithoutPool();
        assertThat(node.machine.count()).isZero();
        assertThat(node.state()).isIn("NONE", "ABSENT");
        assertThat(staged()).isEmpty();
        assertThat(node.manager().start(start(ref(1, 1, 1, 2), null)).rung()).isEqualTo("cold");
        assertThat(node.reports).isEmpty();
    }

    @Test
    void manyAtOnceAllSucceedAndTheFirstAreHot() throws Exception {
        node.slots = 64;
        node.memoryBytes = 64L << 30;
        node.restartWithPool(8, 0);
        awaitPool(8, 0);
        List<Callable<String>> starts = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            starts.add(() -> node.manager().start(fresh(WarmUp.nobody())).rung());
        }
        List<String> rungs = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<String> started : threads.invokeAll(starts)) {
                rungs.add(started.get());
            }
        }
        assertThat(rungs).hasSize(32).containsOnly("hot", "cold");
        assertThat(rungs.stream().filter("hot"::equals).count()).isGreaterThanOrEqualTo(8);
        assertThat(node.manager().sandboxes()).hasSize(32);
        awaitPool(8, 0);
    }

    @Test
    void whatIsMadeOfAnOldStartSnapshotIsDiscarded() {
        node.restartWithPool(1, 0);
        awaitPool(1, 0);
        Set<Long> old = node.machine.startIds();
        node.templates().remake();
        assertThat(node.manager().start(start(ref(1, 1, 1, 1), null)).rung()).isEqualTo("cold");
        Await.until(
                "the old one is ended",
                () -> node.machine.startIds().stream().noneMatch(old::contains));
        awaitPool(1, 0);
        assertThat(node.pool().counts().allDiscarded()).isEqualTo(1);
    }

    @Test
    void oneThatDiesIsMadeAgain() {
        node.restartWithPool(1, 1);
        awaitPool(1, 1);
        Set<Long> old = node.machine.startIds();
        old.forEach(id -> node.machine.kill(id, VmExit.Reason.KILLED));
        Await.until("both are noticed", () -> node.pool().counts().allDiscarded() == 2);
        awaitPool(1, 1);
        assertThat(node.machine.startIds()).hasSize(2).doesNotContainAnyElementsOf(old);
        assertThat(node.reports).as("nobody's VM").isEmpty();
    }

    @Test
    void sessionsHaveTheMemoryBeforeThePool() {
        long one = ((long) Size.XS.memoryMiB() << 20) + MemoryBudget.OVERHEAD_BYTES;
        node.slots = 8;
        node.memoryBytes = 3 * one;
        node.restartWithPool(2, 2);
        Await.until("there is room for three", () -> node.machine.count() == 3);
        assertThat(node.memory().freeBytes()).as("it all is free").isEqualTo(3 * one);
        for (int i = 0; i < 3; i++) {
            node.manager().start(fresh(WarmUp.nobody()));
        }
        assertThat(node.manager().sandboxes()).hasSize(3);
        assertThat(node.memory().freeBytes()).isZero();
    }

    @Test
    void sessionsHaveTheSlotsBeforeThePool() {
        node.restartWithPool(8, 0);
        Await.until("two are left free", () -> node.machine.count() == 2);
        for (int i = 0; i < 4; i++) {
            node.manager().start(fresh(WarmUp.nobody()));
        }
        assertThat(node.manager().sandboxes()).hasSize(4);
    }

    @Test
    void nothingOutlivesTheProcess() {
        node.slots = 8;
        node.restartWithPool(2, 1);
        awaitPool(2, 1);
        node.closePool();
        assertThat(node.machine.count()).isZero();
        assertThat(staged()).isEmpty();
    }
}
