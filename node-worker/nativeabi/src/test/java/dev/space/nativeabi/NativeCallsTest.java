package dev.space.nativeabi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The wrappers on ordinary files and processes; reflinks on btrfs are in ReflinkIT. */
class NativeCallsTest {

    @TempDir Path directory;

    @Test
    void cloneOfAMissingFileNamesItAndLeavesNothing() {
        Path target = directory.resolve("target");
        assertThatThrownBy(() -> Reflink.clone(directory.resolve("missing"), target))
                .isInstanceOfSatisfying(
                        NativeException.class,
                        e -> assertThat(e.errno()).isEqualTo(NativeException.ENOENT))
                .hasMessageContaining("missing");
        assertThat(target).doesNotExist();
    }

    @Test
    void cloneAcrossFileSystemsIsRefusedAndLeavesNothing() throws Exception {
        Path source = Files.write(directory.resolve("source"), new byte[8192]);
        Path other = Path.of("/dev/shm");
        if (FileSystemType.of(other).equals(FileSystemType.of(directory))) {
            System.out.println("not run here: /dev/shm is no other file system");
            return;
        }
        Path target = Files.createTempDirectory(other, "space-test").resolve("target");
        try {
            assertThatThrownBy(() -> Reflink.clone(source, target))
                    .isInstanceOfSatisfying(
                            NativeException.class,
                            e ->
                                    assertThat(e.errno())
                                            .isIn(
                                                    NativeException.EXDEV,
                                                    NativeException.EOPNOTSUPP));
            assertThat(target).doesNotExist();
        } finally {
            Files.deleteIfExists(target.getParent());
        }
    }

    @Test
    void cloneDoesNotReplaceAFile() throws Exception {
        Path source = Files.write(directory.resolve("source"), new byte[10]);
        Path target = Files.write(directory.resolve("target"), new byte[20]);
        assertThatThrownBy(() -> Reflink.clone(source, target)).isInstanceOf(NativeException.class);
        assertThat(target).hasSize(20);
    }

    @Test
    void holesAreFoundAndPunched() throws Exception {
        Path file = directory.resolve("sparse");
        try (RandomAccessFile f = new RandomAccessFile(file.toFile(), "rw")) {
            f.setLength(4 << 20);
            f.seek(1 << 20);
            f.write(new byte[64 << 10]);
        }
        List<SparseFile.Range> ranges = SparseFile.dataRanges(file);
        assertThat(ranges).containsExactly(new SparseFile.Range(1 << 20, 64 << 10));
        SparseFile.punchHole(file, 1 << 20, 64 << 10);
        assertThat(SparseFile.dataRanges(file)).isEmpty();
        assertThat(file).hasSize(4 << 20);
    }

    @Test
    void fileSystemTypeIsKnown() throws Exception {
        assertThat(FileSystemType.of(Path.of("/dev/shm"))).isEqualTo(FileSystemType.TMPFS);
        assertThatThrownBy(() -> FileSystemType.of(directory.resolve("missing")))
                .isInstanceOf(NativeException.class);
    }

    @Test
    void pidFdSeesTheEndOfAProcess() throws Exception {
        Process process = new ProcessBuilder("sleep", "60").start();
        try (PidFd fd = PidFd.open((int) process.pid()).orElseThrow()) {
            assertThat(fd.awaitExit(Duration.ofMillis(20))).isFalse();
            assertThat(fd.signal(PidFd.SIGKILL)).isTrue();
            assertThat(fd.awaitExit(Duration.ofSeconds(10))).isTrue();
            assertThat(process.waitFor()).isEqualTo(128 + PidFd.SIGKILL);
            assertThat(fd.signal(PidFd.SIGKILL)).isFalse();
        }
        assertThat(PidFd.open((int) process.pid())).isEmpty();
    }

    @Test
    void directoriesCanBeSynced() throws Exception {
        Durable.fsync(directory);
        Durable.fdatasync(Files.write(directory.resolve("f"), new byte[1]));
    }
}
