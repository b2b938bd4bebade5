package dev.space.node.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.space.node.config.ConfigLoader;
import dev.space.node.engine.fake.FakeMachine;
import dev.space.node.reports.Outbox;
import dev.space.node.sandbox.Await;
import dev.space.node.templates.FakeTemplates;
import dev.space.nodeapi.NodeErrors;
import dev.space.nodeapi.v1.AuditRecord;
import dev.space.nodeapi.v1.Report;
import dev.space.nodeapi.v1.VmExited;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The disk that holds the node's state is really full: a small file system of its own. */
final class StateDiskFullIT {

    private static final Duration MOUNT_MAX = Duration.ofSeconds(10);

    @TempDir Path directory;
    private Path state;
    private boolean mounted;

    @BeforeEach
    void mount() throws Exception {
        boolean root = (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0;
        if (!root) {
            System.out.println("StateDiskFullIT: not run here: it mounts a file system, as root");
        }
        assumeTrue(root, "needs root");
        state = Files.createDirectory(directory.resolve("state"));
        run("mount", "-t", "tmpfs", "-o", "size=8m", "space-test", state.toString());
        mounted = true;
    }

    @AfterEach
    void unmount() throws Exception {
        if (mounted) {
            run("umount", "-l", state.toString());
        }
    }

    private static void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).inheritIO().start();
        assertThat(process.waitFor(MOUNT_MAX.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(String.join(" ", command)).isZero();
    }

    /** Takes all that is left. */
    private Path fill() throws IOException {
        Path ballast = state.resolve("ballast");
        try (OutputStream out = Files.newOutputStream(ballast)) {
            byte[] block = new byte[4096];
            while (true) {
                out.write(block);
            }
        } catch (IOException full) {
            assertThat(full).hasMessageContaining("No space left");
        }
        return ballast;
    }

    @Test
    void callsAreRefusedByTheCatalogueAndGoOnWhenThereIsSpace() throws Exception {
        Files.writeString(directory.resolve("token"), "secret\n");
        Path config = directory.resolve("node.properties");
        Files.writeString(
                config,
                """
                space.node.id=test
                space.node.token-file=%1$s/token
                space.node.api-port=0
                space.node.http-port=0
                space.node.data-dir=%1$s/data
                space.node.state-dir=%1$s/state
                space.node.cache-dir=%1$s/cache
                space.node.engine=fake
                space.node.disk-reserve-mib=1
                space.node.rolling.disk-seconds=0
                space.node.rolling.full-seconds=0
                """
                        .formatted(directory));
        try (NodeProcess process = new NodeProcess(ConfigLoader.load(config), new FakeMachine());
                NodeClient client =
                        new NodeClient(
                                process.apiPort(), "secret", FakeTemplates.DEFAULT_DIGEST, "xs")) {
            var _ = client.start("");
            assertThat(client.run("echo kept > note")).isEmpty();
            client.background("count", "counter");
            Path ballast = fill();
            refused(() -> client.exec("echo lost > note"));
            refused(() -> client.background("other", "counter"));
            int before = client.state().getSnapshotsCount();
            Files.delete(ballast);
            assertThat(client.run("cat note")).as("nothing was done").isEqualTo("kept\n");
            assertThat(client.state().getSnapshotsCount()).isEqualTo(before);
            int written = client.output("count").length();
            Await.until("it counts on", () -> client.output("count").length() > written);
            client.release();
        }
    }

    private static void refused(Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        StatusRuntimeException.class,
                        e ->
                                assertThat(NodeErrors.toException(e, "test").code().name())
                                        .isEqualTo("NODE_DISK_FULL"))
                .hasMessageContaining("free space");
    }

    @Test
    void noReportIsLostBehindOneThatFoundNoSpace() throws Exception {
        Path box = state.resolve("outbox");
        try (Outbox outbox = new Outbox(box, InstantSource.system(), 64 << 20)) {
            outbox.add(exit("first"), true);
            Path ballast = fill();
            assertThatThrownBy(() -> fillWith(outbox)).isInstanceOf(UncheckedIOException.class);
            assertThatThrownBy(() -> fillWith(outbox)).isInstanceOf(UncheckedIOException.class);
            Files.delete(ballast);
            outbox.add(exit("second"), true);
        }
        try (Outbox outbox = new Outbox(box, InstantSource.system(), 64 << 20)) {
            List<Report> all = outbox.next(100_000, Duration.ZERO);
            assertThat(
                            all.stream()
                                    .filter(Report::hasVmExited)
                                    .map(r -> r.getVmExited().getDetail()))
                    .containsExactly("first", "second");
            for (int i = 0; i < all.size(); i++) {
                assertThat(all.get(i).getSequence()).isEqualTo(i + 1);
            }
        }
    }

    private static Report.Builder exit(String detail) {
        return Report.newBuilder().setVmExited(VmExited.newBuilder().setDetail(detail));
    }

    /** Until the page that the file has is full too. */
    private static void fillWith(Outbox outbox) {
        for (int n = 0; n < 10_000; n++) {
            outbox.add(
                    Report.newBuilder()
                            .setAudit(AuditRecord.newBuilder().setObject("x".repeat(300))),
                    false);
        }
    }
}
