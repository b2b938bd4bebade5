package dev.space.node.sandbox;

import static dev.space.node.sandbox.TestNode.SESSION;
import static dev.space.node.sandbox.TestNode.command;
import static dev.space.node.sandbox.TestNode.operation;
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
import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.Ids;
import dev.space.model.SessionId;
import dev.space.model.Size;
import dev.space.model.SpaceException;
import dev.space.node.dataplane.SandboxProcess;
import dev.space.node.templates.FakeTemplates;
import dev.space.node.volumes.Volume;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A sandbox that starts from a snapshot of another session. */
final class ForkedSandboxTest {

    @TempDir Path directory;
    private TestNode node;

    @BeforeEach
    void open() {
        node = new TestNode(directory);
        node.manager().start(start(ref(1, 1, 1, 1), null));
    }

    private static SessionId child(int n) {
        byte[] id = new byte[Ids.RANDOM_BYTES];
        Arrays.fill(id, (byte) (100 + n));
        return new SessionId(Ids.text(SessionId.PREFIX, id));
    }

    private SandboxStarted startChild(int n, long attempt) {
        StepRef ref = new StepRef(child(n), operation(50 + n), new Fence(1, 1, attempt));
        return node.manager()
                .start(
                        new StartSandbox(
                                ref,
                                FakeTemplates.DEFAULT_DIGEST,
                                Size.XS,
                                snapshot(1),
                                SESSION,
                                "child-" + n,
                                5));
    }

    @Test
    void itsProcessesGoOnAndTheSourceGoesOnToo() throws InterruptedException {
        SandboxProcess counter =
                node.manager().running(SESSION, 1).processes().start(command("c", "counter"));
        Await.until("the counter counts", () -> counter.log(false).end() > 20);
        node.manager().checkpoint(take(ref(2, 1, 2, 1), snapshot(1)));
        long then = counter.log(false).end();

        SandboxStarted first = startChild(1, 1);
        assertThat(first.memoryLost()).isFalse();
        assertThat(startChild(1, 2)).as("asked again").isEqualTo(first);
        startChild(2, 1);
        assertThat(node.machine.count()).isEqualTo(3);
        for (int n : new int[] {1, 2}) {
            SandboxProcess own = node.manager().running(child(n), 1).processes().require("c");
            Await.until("it counts on", () -> own.log(false).end() > then + 20);
        }
        Await.until("the source counts on", () -> counter.log(false).end() > then + 20);
    }

    @Test
    void itOutlivesItsSource() {
        node.manager().checkpoint(take(ref(2, 1, 2, 1), snapshot(1)));
        startChild(1, 1);
        node.manager().release(new ReleaseSession(ref(3, 2, 3, 1)));
        assertThat(node.manager().running(child(1), 1)).isNotNull();
        node.restart();
        assertThat(node.manager().running(child(1), 1)).isNotNull();
        assertThat(node.machine.count()).isEqualTo(1);
    }

    @Test
    void withoutTheSnapshotNothingStartsAndNothingIsLeft() {
        node.manager().checkpoint(take(ref(2, 1, 2, 1), snapshot(1)));
        node.manager().release(new ReleaseSession(ref(3, 2, 3, 1)));
        assertThatThrownBy(() -> startChild(1, 1))
                .isInstanceOfSatisfying(
                        SpaceException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.SNAPSHOT_NOT_FOUND));
        StepRef undo = new StepRef(child(1), operation(51), new Fence(1, 1, 100_000));
        node.manager().release(new ReleaseSession(undo));
        assertThat(node.machine.count()).isZero();
        assertThat(Volume.children(directory.resolve("main/sessions"))).isEmpty();
    }
}
