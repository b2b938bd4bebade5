package dev.space.node.volumes;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.stream.Stream;

/** Writes that survive a loss of power, and the few file operations that must not follow links. */
public final class DurableFiles {

    private static final Set<StandardOpenOption> NEW_FILE =
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);

    private DurableFiles() {}

    /** Writes a file of mode 0600 that must not exist, with fsync. */
    public static void writeNew(Path file, byte[] content) throws IOException {
        try (FileChannel out =
                FileChannel.open(
                        file,
                        NEW_FILE,
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString("rw-------")))) {
            ByteBuffer left = ByteBuffer.wrap(content);
            while (left.hasRemaining()) {
                out.write(left);
            }
            out.force(true);
        }
    }

    /** Replaces a file in one step: readers see the old content or the new. */
    public static void replace(Path file, byte[] content) throws IOException {
        Path next = file.resolveSibling(file.getFileName() + ".next");
        Files.deleteIfExists(next);
        writeNew(next, content);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        syncDirectory(parent(file));
    }

    public static void syncFile(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Makes the names in a directory durable. */
    public static void syncDirectory(Path directory) throws IOException {
        syncFile(directory);
    }

    /** Makes every file of a tree and every directory's names durable, children first. */
    public static void syncTree(Path directory) throws IOException {
        try (Stream<Path> children = Files.list(directory)) {
            for (Path child : children.toList()) {
                if (Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS)) {
                    syncTree(child);
                } else if (Files.isRegularFile(child, LinkOption.NOFOLLOW_LINKS)) {
                    syncFile(child);
                }
            }
        }
        syncDirectory(directory);
    }

    /** Removes a tree without following links; what vanishes meanwhile is no error. */
    public static void deleteTree(Path root) throws IOException {
        if (Files.isDirectory(root, LinkOption.NOFOLLOW_LINKS)) {
            try (Stream<Path> children = Files.list(root)) {
                for (Path child : children.toList()) {
                    deleteTree(child);
                }
            }
        }
        Files.deleteIfExists(root);
    }

    static Path parent(Path path) {
        Path parent = path.getParent();
        if (parent == null) {
            throw new IllegalArgumentException("no parent: " + path);
        }
        return parent;
    }
}
