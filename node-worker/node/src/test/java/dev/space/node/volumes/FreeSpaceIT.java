package dev.space.node.volumes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a btrfs of its own, because what is promised there is seen in the kernel's counters alone. */
final class FreeSpaceIT {

    private static final Duration COMMAND_MAX = Duration.ofSeconds(30);
    private static final long IMAGE_BYTES = 1L << 30;
    private static final int WRITTEN_MIB = 128;

    /** For what the file system writes about itself. */
    private static final long NOISE_BYTES = 24L << 20;

    @TempDir Path directory;
    private Path mount;
    private boolean mounted;

    @BeforeEach
    void mount() throws Exception {
        boolean root = (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0;
        boolean tools =
                Files.exists(Path.of("/usr/bin/mkfs.btrfs"))
                        || Files.exists(Path.of("/sbin/mkfs.btrfs"));
        if (!root || !tools) {
            System.out.println("FreeSpaceIT: not run here: it makes a btrfs, as root");
        }
        assumeTrue(root && tools, "needs root and btrfs-progs");
        Path image = directory.resolve("image");
        try (FileChannel file =
                FileChannel.open(image, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            int _ = file.write(ByteBuffer.wrap(new byte[1]), IMAGE_BYTES - 1);
        }
        mount = Files.createDirectory(directory.resolve("mount"));
        run("mkfs.btrfs", "-q", image.toString());
        run("mount", "-o", "loop", image.toString(), mount.toString());
        mounted = true;
    }

    @AfterEach
    void unmount() throws Exception {
        if (mounted) {
            run("umount", mount.toString());
        }
    }

    private static void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).inheritIO().start();
        assertThat(process.waitFor(COMMAND_MAX.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(String.join(" ", command)).isZero();
    }

    @Test
    void whatIsWrittenToMemoryAloneIsNotFree() throws Exception {
        FreeSpace space = FreeSpace.of(mount);
        assertThat(space.countsPromises()).isTrue();
        long before = space.freeBytes();
        long took = (long) WRITTEN_MIB << 20;
        try (FileChannel file =
                FileChannel.open(
                        mount.resolve("file"),
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.WRITE)) {
            ByteBuffer block = ByteBuffer.allocate(1 << 20);
            for (int i = 0; i < WRITTEN_MIB; i++) {
                int _ = file.write(block.clear());
            }
            // Nothing was synced: the file system itself may still call all of it free.
            assertThat(before - space.freeBytes())
                    .isBetween(took - NOISE_BYTES, took + NOISE_BYTES);
            file.force(true);
            assertThat(before - space.freeBytes())
                    .isBetween(took - NOISE_BYTES, took + NOISE_BYTES);
        }
        assertThat(space.totalBytes()).isEqualTo(IMAGE_BYTES);
    }
}
