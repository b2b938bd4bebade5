package dev.space.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.space.model.ErrorCode;
import dev.space.model.Secret;
import dev.space.model.SpaceException;
import dev.space.objects.ObjectServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The embedded server on a disk that is really full. Needs root for a small file system. */
final class FullStoreIT {

    private static final String SECRET = "not-a-secret-at-all";

    @TempDir Path root;

    @Test
    void aFullDiskIsSaidAndLaterTheUploadGoesOn() throws Exception {
        boolean isRoot = (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0;
        if (!isRoot) {
            System.out.println("FullStoreIT: not run here: needs root");
        }
        assumeTrue(isRoot, "needs root");
        Path data = Files.createDirectory(root.resolve("data"));
        run("mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", data.toString());
        try {
            uploadTwice(data);
        } finally {
            run("umount", data.toString());
        }
    }

    private void uploadTwice(Path data) throws Exception {
        try (Scene scene = new Scene(root, 1);
                ObjectServer server = ObjectServer.start(data, 0, "space", SECRET);
                var client = new S3DurableStore(settings(server.port()))) {
            Path snapshot = Files.createDirectory(scene.fresh());
            Files.write(snapshot.resolve("ram"), Trees.bytes(scene.random, 20 << 20));
            UploadRequest request = scene.request(1, snapshot, Optional.empty(), Optional.empty());
            assertThatThrownBy(() -> client.upload(request, TransferControl.NONE))
                    .isInstanceOfSatisfying(
                            SpaceException.class,
                            e -> assertThat(e.code()).isEqualTo(ErrorCode.OBJECT_STORE_FULL));
            try (Stream<Path> left = Files.walk(data)) {
                assertThat(left.filter(Files::isRegularFile))
                        .as("half a pack has no name")
                        .allMatch(file -> file.toString().endsWith(".pack"));
            }
            run("mount", "-o", "remount,size=64m", data.toString());
            DurableSnapshot done = client.upload(request, TransferControl.NONE);
            Path staging = scene.staging();
            client.download(done, scene.key, staging, scene.template, TransferControl.NONE);
            Trees.assertSame(staging, snapshot);
        }
    }

    private static S3Settings settings(int port) {
        return new S3Settings(
                "http://127.0.0.1:" + port,
                "us-east-1",
                "space",
                "space",
                Secret.ofText("secret key", SECRET));
    }

    private static void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).inheritIO().start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(String.join(" ", command)).isZero();
    }
}
