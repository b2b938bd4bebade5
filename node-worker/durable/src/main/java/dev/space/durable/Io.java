package dev.space.durable;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

/** Reading and writing whole ranges of files, and what their failures mean. */
final class Io {

    private static final byte[] ZEROS = new byte[Format.CHUNK_BYTES];

    private Io() {}

    static void read(FileChannel from, long offset, byte[] into, int length) throws IOException {
        ByteBuffer left = ByteBuffer.wrap(into, 0, length);
        while (left.hasRemaining()) {
            if (from.read(left, offset + left.position()) < 0) {
                throw new EOFException("the file became shorter while it was read");
            }
        }
    }

    static void write(FileChannel to, long offset, byte[] bytes, int length) throws IOException {
        ByteBuffer left = ByteBuffer.wrap(bytes, 0, length);
        while (left.hasRemaining()) {
            int before = left.position();
            int written = to.write(left, offset + before);
            if (written <= 0) {
                throw new IOException("nothing could be written");
            }
        }
    }

    static boolean isZero(byte[] bytes, int length) {
        return Arrays.equals(bytes, 0, length, ZEROS, 0, length);
    }

    /** Makes files and names of a tree last, children first. */
    static void sync(Path directory) throws IOException {
        try (Stream<Path> children = Files.list(directory)) {
            for (Path child : children.toList()) {
                if (Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS)) {
                    sync(child);
                } else {
                    dev.space.nativeabi.Durable.fsync(child);
                }
            }
        }
        dev.space.nativeabi.Durable.fsync(directory);
    }

    /** Removes everything in a directory but not the directory; follows no link. */
    static void empty(Path directory) throws IOException {
        try (Stream<Path> children = Files.list(directory)) {
            for (Path child : children.toList()) {
                if (Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS)) {
                    empty(child);
                }
                Files.delete(child);
            }
        }
    }

    static SpaceException failed(String what, IOException cause) {
        String message = String.valueOf(cause.getMessage());
        boolean full =
                message.contains("No space left")
                        || message.contains("ENOSPC")
                        || message.contains("quota exceeded");
        return new SpaceException(
                full ? ErrorCode.NODE_DISK_FULL : ErrorCode.INTERNAL,
                what + ": " + message + (full ? "; free space on the node" : ""),
                cause);
    }
}
