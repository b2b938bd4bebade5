package dev.space.nativeabi;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Making names and contents last: what must happen before a publish may be believed. */
public final class Durable {

    private Durable() {}

    /** fsync of a file or of a directory (whose entries then survive a power cut). */
    public static void fsync(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** fdatasync: contents and size, not times. */
    public static void fdatasync(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            channel.force(false);
        }
    }
}
