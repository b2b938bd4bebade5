package dev.space.cli.supervisor;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Bounds the processes' logs in size and count. The processes write to files that they inherited,
 * and outlive the supervisor, so a file cannot be taken away from them: it is copied and cut to
 * nothing. They append, so they go on at its new beginning.
 */
final class LogRotation {

    private static final String SUFFIX = ".log";

    private final Path directory;
    private final long bytesMax;
    private final int keep;
    private final Consumer<String> complaint;

    /**
     * @param bytesMax a log that is longer is set aside
     * @param keep how many of each are kept beside the one that is written
     */
    LogRotation(Path directory, long bytesMax, int keep, Consumer<String> complaint) {
        this.directory = directory;
        this.bytesMax = bytesMax;
        this.keep = keep;
        this.complaint = complaint;
    }

    /** One look at every log. A log that cannot be set aside is told of and tried again. */
    void look() {
        try (Stream<Path> all = Files.list(directory)) {
            List<Path> logs = all.filter(p -> p.toString().endsWith(SUFFIX)).toList();
            for (Path log : logs) {
                if (Files.size(log) > bytesMax) {
                    rotate(log);
                }
            }
        } catch (IOException e) {
            complaint.accept("logs cannot be rotated: " + e);
        }
    }

    private void rotate(Path log) throws IOException {
        Files.deleteIfExists(numbered(log, keep));
        for (int i = keep - 1; i >= 1; i--) {
            if (Files.exists(numbered(log, i))) {
                Files.move(
                        numbered(log, i),
                        numbered(log, i + 1),
                        StandardCopyOption.REPLACE_EXISTING);
            }
        }
        try (FileChannel from =
                FileChannel.open(log, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            if (keep > 0) {
                copy(from, numbered(log, 1));
            }
            var _ = from.truncate(0);
        }
    }

    /** At most {@code bytesMax}, the newest: a process gone wild fills no disk in between looks. */
    private void copy(FileChannel from, Path target) throws IOException {
        Files.createFile(
                target,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try (FileChannel to = FileChannel.open(target, StandardOpenOption.WRITE)) {
            long at = Math.max(0, from.size() - bytesMax);
            for (long n = from.transferTo(at, bytesMax, to);
                    n > 0;
                    n = from.transferTo(at, bytesMax, to)) {
                at += n;
            }
        }
    }

    private static Path numbered(Path log, int number) {
        return log.resolveSibling(log.getFileName() + "." + number);
    }
}
