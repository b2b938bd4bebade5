package dev.space.node.sandbox;

import static dev.space.node.sandbox.TestNode.SESSION;
import static dev.space.node.sandbox.TestNode.command;
import static dev.space.node.sandbox.TestNode.ref;
import static dev.space.node.sandbox.TestNode.start;
import static org.assertj.core.api.Assertions.assertThat;

import dev.space.node.dataplane.OutputLog;
import dev.space.node.dataplane.ProcessTable;
import dev.space.node.dataplane.SandboxProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process's record is written half a second after its end. A node that is killed in between has
 * told its caller of an end that is on no disk: the guest still has it.
 */
final class RecordLossTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int TRIES = 20;

    @TempDir Path directory;
    private TestNode node;

    @BeforeEach
    void open() {
        node = new TestNode(directory);
        node.manager().start(start(ref(1, 1, 1, 1), null));
    }

    private ProcessTable processes() {
        return node.manager().running(SESSION, 1).processes();
    }

    private SandboxProcess ended(String id, String line) throws InterruptedException {
        SandboxProcess process = processes().start(command(id, line));
        assertThat(process.await(PATIENCE)).isTrue();
        return process;
    }

    /** Killed before the record is written: a slow machine may need more than one try. */
    private String killedBeforeTheRecord(String line) throws Exception {
        for (int n = 0; n < TRIES; n++) {
            String id = "p" + n;
            var _ = ended(id, line);
            boolean unwritten = !isRecorded(id);
            node.restart();
            if (unwritten) {
                return id;
            }
        }
        throw new AssertionError("every record was written at once");
    }

    private boolean isRecorded(String id) {
        Path live = directory.resolve("main/sessions").resolve(SESSION.value()).resolve("live");
        return Files.exists(LiveFiles.processes(live).resolve(id).resolve("meta.json"));
    }

    @Test
    void endAndOutputAreThereAfterwards() throws Exception {
        String said = killedBeforeTheRecord("echo kept");
        SandboxProcess process = processes().require(said);
        assertThat(process.await(PATIENCE)).isTrue();
        assertThat(process.state().running()).isFalse();
        assertThat(process.state().exitCode()).isZero();
        try (OutputLog.Reader reader = process.log(false).reader(0)) {
            assertThat(TestNode.text(reader.next(1 << 16, PATIENCE).data())).isEqualTo("kept\n");
        }
        Await.until("it is on disk now", () -> isRecorded(said));
    }

    @Test
    void soIsAnExitCodeWithoutOutput() throws Exception {
        String failed = killedBeforeTheRecord("exit 3");
        SandboxProcess process = processes().require(failed);
        assertThat(process.await(PATIENCE)).isTrue();
        assertThat(process.state().exitCode()).isEqualTo(3);
        Await.until("it is on disk now", () -> isRecorded(failed));
    }

    @Test
    void killedAgainAndAgainItIsStillThere() throws Exception {
        var _ = ended("failed", "exit 3");
        for (int kill = 0; kill < 5; kill++) {
            node.restart();
            SandboxProcess failed = processes().require("failed");
            assertThat(failed.await(PATIENCE)).isTrue();
            assertThat(failed.state().exitCode()).isEqualTo(3);
        }
    }

    @Test
    void aRetriedStartRunsNothingTwice() throws Exception {
        String once = killedBeforeTheRecord("echo kept");
        SandboxProcess again = ended(once, "echo kept");
        try (OutputLog.Reader reader = again.log(false).reader(0)) {
            assertThat(TestNode.text(reader.next(1 << 16, PATIENCE).data())).isEqualTo("kept\n");
        }
    }
}
