package dev.space.nativeabi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Reflinks and extents on a real btrfs in a loop image; needs root and mkfs.btrfs. */
class ReflinkIT {

    private static Path base = Path.of("/");
    private static Path mount = Path.of("/");
    private static boolean mounted;

    @BeforeAll
    static void mountBtrfs() throws Exception {
        boolean root = (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0;
        boolean tool =
                Files.isExecutable(Path.of("/usr/sbin/mkfs.btrfs"))
                        || Files.isExecutable(Path.of("/sbin/mkfs.btrfs"));
        if (!root || !tool) {
            System.out.println("ReflinkIT: not run here: needs root and mkfs.btrfs");
        }
        assumeTrue(root && tool, "needs root and mkfs.btrfs");
        base = Files.createTempDirectory("space-reflink-it");
        mount = Files.createDirectory(base.resolve("mnt"));
        Path image = base.resolve("image");
        try (RandomAccessFile f = new RandomAccessFile(image.toFile(), "rw")) {
            f.setLength(256L << 20);
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

    @Test
    void aCloneSharesExtentsAndDiffersAfterAWrite() throws Exception {
        assertThat(FileSystemType.isBtrfs(mount)).isTrue();
        Path source = mount.resolve("source");
        Files.write(source, pattern(1 << 20));
        Path clone = mount.resolve("clone");
        Reflink.clone(source, clone);
        assertThat(Files.mismatch(source, clone)).isEqualTo(-1);
        List<Extent> before = ExtentMap.of(source);
        assertThat(ExtentMap.of(clone).stream().map(Extent::physical).toList())
                .isEqualTo(before.stream().map(Extent::physical).toList());
        assertThat(ExtentMap.of(clone)).allMatch(e -> e.has(Extent.SHARED));
        try (RandomAccessFile f = new RandomAccessFile(clone.toFile(), "rw")) {
            f.seek(512 << 10);
            f.write(7);
        }
        assertThat(ExtentMap.of(clone)).isNotEqualTo(before);
        assertThat(Files.mismatch(source, clone)).isEqualTo(512 << 10);
    }

    @Test
    void cloneIntoKeepsTheInode() throws Exception {
        Path source = mount.resolve("golden");
        Files.write(source, pattern(256 << 10));
        Path target = mount.resolve("mapped");
        try (RandomAccessFile f = new RandomAccessFile(target.toFile(), "rw")) {
            f.setLength(256 << 10);
            Reflink.cloneInto(source, target);
            byte[] seen = new byte[256 << 10];
            f.readFully(seen);
            assertThat(seen).isEqualTo(pattern(256 << 10));
        }
    }

    @Test
    void cloneIntoFollowsNoSymlink() throws Exception {
        Path source = mount.resolve("secret-source");
        Files.write(source, pattern(4096));
        Path victim = mount.resolve("victim");
        Files.write(victim, new byte[4096]);
        Path link = Files.createSymbolicLink(mount.resolve("link"), victim);
        assertThatThrownBy(() -> Reflink.cloneInto(source, link))
                .isInstanceOf(NativeException.class);
        assertThat(Files.readAllBytes(victim)).isEqualTo(new byte[4096]);
    }

    /** Under a mapping that is written, as a VM's memory is. */
    @Test
    void aDefragmentedFileHasFewExtentsAndItsBytes() throws Exception {
        int length = 8 << 20;
        Path file = mount.resolve("fragmented");
        Files.write(file, pattern(length));
        // The arena ends the mapping, which would keep the file system from being unmounted.
        try (RandomAccessFile f = new RandomAccessFile(file.toFile(), "rw");
                Arena arena = Arena.ofConfined()) {
            MemorySegment mapped =
                    f.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, length, arena);
            for (int round = 0; round < 4; round++) {
                Path clone = mount.resolve("fragment-clone-" + round);
                Reflink.clone(file, clone);
                for (int page = round; page < length / 4096; page += 8) {
                    mapped.set(JAVA_BYTE, page * 4096L, (byte) (page + round));
                }
                mapped.force();
            }
            byte[] before = Files.readAllBytes(file);
            int all = ExtentMap.of(file).size();
            assertThat(all).isGreaterThan(500);
            Defragment.range(file, 0, length / 2, 256 << 10);
            int half = ExtentMap.of(file).size();
            assertThat(half).as("a half of %s", all).isBetween(all / 4, all * 2 / 3);
            Defragment.range(file, length / 2, length / 2, 256 << 10);
            assertThat(ExtentMap.of(file)).hasSizeLessThan(50);
            assertThat(Files.readAllBytes(file)).isEqualTo(before);
            mapped.set(JAVA_BYTE, 5, (byte) 99);
            assertThat(Files.readAllBytes(file)[5]).as("the mapping goes on").isEqualTo((byte) 99);
            assertThat(Files.mismatch(file, mount.resolve("fragment-clone-0"))).isNotEqualTo(-1);
        }
    }

    private static byte[] pattern(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 31 + (i >> 12));
        }
        return bytes;
    }

    private static void run(String... command) throws Exception {
        Process p = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!p.waitFor(60, TimeUnit.SECONDS) || p.exitValue() != 0) {
            throw new IllegalStateException(String.join(" ", command) + ": " + output);
        }
    }
}
