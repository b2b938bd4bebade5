package dev.space.durable;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.nativeabi.FileSystemType;
import dev.space.nativeabi.Reflink;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Snapshots as they look on a node's disk, small, from a seed. */
final class Trees {

    static final int DISK_BYTES = 40 * Format.CHUNK_BYTES + 4096;
    static final int RAM_BYTES = 24 * Format.CHUNK_BYTES;

    private Trees() {}

    /** A template: a sparse disk with some content. */
    static Path template(Path root, Random random) throws IOException {
        Path directory = Files.createDirectories(root);
        try (RandomAccessFile disk = open(directory.resolve("disk"))) {
            disk.setLength(DISK_BYTES - (random.nextBoolean() ? 8192 : 0));
            for (int i = 0; i < 12; i++) {
                scribble(disk, random, 30_000);
            }
        }
        return directory;
    }

    /** The first snapshot of a session: the template's disk, memory, device state, outputs. */
    static Path first(Path root, Path template, Random random) throws IOException {
        Path directory = Files.createDirectories(root);
        if (FileSystemType.isBtrfs(directory)) {
            Reflink.clone(template.resolve("disk"), directory.resolve("disk"));
        } else {
            Files.copy(template.resolve("disk"), directory.resolve("disk"));
        }
        try (RandomAccessFile disk = open(directory.resolve("disk"))) {
            disk.setLength(DISK_BYTES);
        }
        try (RandomAccessFile ram = open(directory.resolve("ram"))) {
            ram.setLength(RAM_BYTES);
            for (int i = 0; i < 6; i++) {
                scribble(ram, random, 60_000);
            }
        }
        Files.write(directory.resolve("device"), bytes(random, 9_000));
        Files.writeString(
                directory.resolve("manifest.json"),
                "{\"token\":\"canary-" + random.nextLong() + "\"}");
        Files.createDirectories(directory.resolve("processes/prc_a/empty"));
        Files.write(directory.resolve("processes/prc_a/stdout"), bytes(random, 100));
        Files.write(directory.resolve("processes/prc_a/none"), new byte[0]);
        return directory;
    }

    /** A later snapshot: a copy of the earlier one with changes. */
    static Path next(Path root, Path before, Random random) throws IOException {
        copy(before, root);
        for (String name : new String[] {"disk", "ram"}) {
            try (RandomAccessFile file = open(root.resolve(name))) {
                for (int i = random.nextInt(5); i >= 0; i--) {
                    scribble(file, random, 20_000);
                }
            }
        }
        Files.write(root.resolve("device"), bytes(random, random.nextInt(200_000)));
        if (random.nextBoolean()) {
            Files.write(root.resolve("processes/prc_a/stderr"), bytes(random, 70_000));
        }
        return root;
    }

    private static RandomAccessFile open(Path file) throws IOException {
        return new RandomAccessFile(file.toFile(), "rw");
    }

    /** Random bytes, zeros, or a piece of the same file at another place. */
    private static void scribble(RandomAccessFile file, Random random, int most)
            throws IOException {
        int length = 1 + random.nextInt(most);
        long at = random.nextLong(file.length() - length);
        byte[] bytes = new byte[length];
        switch (random.nextInt(4)) {
            case 0 -> {
                // zeros
            }
            case 1 -> {
                at -= at % Format.CHUNK_BYTES;
                file.seek(random.nextLong(file.length() - length));
                file.readFully(bytes);
            }
            case 2 -> java.util.Arrays.fill(bytes, (byte) random.nextInt());
            default -> random.nextBytes(bytes);
        }
        file.seek(at);
        file.write(bytes);
    }

    static byte[] bytes(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path path : (Iterable<Path>) all::iterator) {
                Path target = to.resolve(from.relativize(path).toString());
                if (Files.isRegularFile(path) && FileSystemType.isBtrfs(path)) {
                    Reflink.clone(path, target);
                } else {
                    Files.copy(path, target);
                }
            }
        }
    }

    /** Every path with its content; directories with none. */
    static Map<String, byte[]> content(Path root) {
        Map<String, byte[]> content = new TreeMap<>();
        try (Stream<Path> all = Files.walk(root)) {
            for (Path path : (Iterable<Path>) all::iterator) {
                byte[] bytes = Files.isDirectory(path) ? new byte[0] : Files.readAllBytes(path);
                content.put(root.relativize(path) + (Files.isDirectory(path) ? "/" : ""), bytes);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return content;
    }

    static void assertSame(Path actual, Path expected) {
        Map<String, byte[]> found = content(actual);
        Map<String, byte[]> wanted = content(expected);
        assertThat(found.keySet()).isEqualTo(wanted.keySet());
        wanted.forEach((path, bytes) ->
                assertThat(java.util.Arrays.equals(found.get(path), bytes))
                        .as("%s is byte-identical", path)
                        .isTrue());
    }
}
