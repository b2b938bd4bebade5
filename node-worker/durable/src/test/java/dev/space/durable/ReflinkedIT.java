package dev.space.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.space.nativeabi.FileSystemType;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Real clones on btrfs: what shared places tell must be true. Needs root and mkfs.btrfs. */
final class ReflinkedIT {

    private static Path base = Path.of("/");
    private static Path mount = Path.of("/");
    private static boolean mounted;

    @BeforeAll
    static void mountBtrfs() throws Exception {
        boolean root = (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0;
        boolean tool = Files.isExecutable(Path.of("/usr/sbin/mkfs.btrfs"));
        if (!root || !tool) {
            System.out.println("ReflinkedIT: not run here: needs root and mkfs.btrfs");
        }
        assumeTrue(root && tool, "needs root and mkfs.btrfs");
        base = Files.createTempDirectory("space-reflinked-it");
        mount = Files.createDirectory(base.resolve("mnt"));
        Path image = base.resolve("image");
        try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
            file.setLength(512L << 20);
        }
        run("mkfs.btrfs", "-q", image.toString());
        run("mount", "-o", "loop", image.toString(), mount.toString());
        mounted = true;
    }

    @AfterAll
    static void unmount() throws Exception {
        if (mounted) {
            run("umount", mount.toString());
            Files.deleteIfExists(base.resolve("image"));
            Files.deleteIfExists(mount);
            Files.deleteIfExists(base);
        }
    }

    private static void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).inheritIO().start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(String.join(" ", command)).isZero();
    }

    @Test
    void chainsOfClonesComeBackByteByByte() throws Exception {
        for (long seed = 0; seed < 20; seed++) {
            Path root = Files.createDirectory(mount.resolve("s" + seed));
            try (Scene scene = new Scene(root, seed)) {
                Path before = Trees.first(scene.fresh(), scene.template, scene.random);
                DurableSnapshot last = scene.upload(0, before);
                for (int row = 1; row < 5; row++) {
                    Path next = Trees.next(scene.fresh(), before, scene.random);
                    last =
                            scene.store.upload(
                                    scene.request(
                                            row, next, Optional.of(last), Optional.of(before)),
                                    TransferControl.NONE);
                    Trees.assertSame(scene.download(last), next);
                    before = next;
                }
            }
        }
    }

    /** A clone is known without being read, and a write into it is found. */
    @Test
    void placesTellWhatIsShared() throws Exception {
        assertThat(FileSystemType.isBtrfs(mount)).isTrue();
        Path root = Files.createDirectory(mount.resolve("places"));
        try (Scene scene = new Scene(root, 99)) {
            Path first = Trees.first(scene.fresh(), scene.template, scene.random);
            Path second = Files.createDirectory(scene.fresh());
            Trees.copy(first, second.resolveSibling("clone"));
            Path ram = second.resolveSibling("clone").resolve("ram");
            FileMap one = FileMap.of(first.resolve("ram"));
            assertThat(FileMap.of(ram).isSame(one, 0, Trees.RAM_BYTES)).isTrue();
            try (RandomAccessFile file = new RandomAccessFile(ram.toFile(), "rw")) {
                file.seek(10L * Format.CHUNK_BYTES);
                file.write(Trees.bytes(scene.random, 5000));
            }
            FileMap two = FileMap.of(ram);
            assertThat(two.isSame(one, 0, 10L * Format.CHUNK_BYTES)).isTrue();
            assertThat(two.isSame(one, 10L * Format.CHUNK_BYTES, 11L * Format.CHUNK_BYTES))
                    .isFalse();
            assertThat(two.isSame(one, 11L * Format.CHUNK_BYTES, Trees.RAM_BYTES)).isTrue();
            Path copy = root.resolve("copy");
            Files.write(copy, Files.readAllBytes(first.resolve("ram")));
            assertThat(FileMap.of(copy).isSame(one, 0, Trees.RAM_BYTES)).isFalse();
        }
    }

    /** The template's disk is cloned, not copied, where the file system can. */
    @Test
    void aDownloadSharesWithTheTemplate() throws Exception {
        Path root = Files.createDirectory(mount.resolve("shares"));
        try (Scene scene = new Scene(root, 98)) {
            Path first = Trees.first(scene.fresh(), scene.template, scene.random);
            Path staging = scene.download(scene.upload(1, first));
            FileMap template = FileMap.of(scene.template.resolve("disk"));
            FileMap disk = FileMap.of(staging.resolve("disk"));
            long whole = Files.size(scene.template.resolve("disk")) / Format.CHUNK_BYTES;
            assertThat(disk.isSame(template, 0, whole * Format.CHUNK_BYTES)).isTrue();
        }
    }
}
