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
    private String told = "";

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

    /**
     * One look at every log. One that cannot be set aside is told of and keeps no other from it.
     */
    void look() {
        for (Path log : logs()) {
            try {
                if (Files.size(log) > bytesMax) {
                    rotate(log);
                }
            } catch (IOException e) {
                tell(log.getFileName() + " cannot be cut: " + e);
            }
        }
    }

    private List<Path> logs() {
        try (Stream<Path> all = Files.list(directory)) {
            return all.filter(p -> p.toString().endsWith(SUFFIX)).toList();
        } catch (IOException e) {
            tell("logs cannot be rotated: " + e);
            return List.of();
        }
    }

    /** Once, however often it is found: a look comes every few seconds. */
    private void tell(String fault) {
        if (!fault.equals(told)) {
            told = fault;
            complaint.accept(fault);
        }
    }

    private void rotate(Path log) throws IOException {
        try (FileChannel from =
                FileChannel.open(log, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            if (keep > 0) {
                setAside(log, from);
            }
            var _ = from.truncate(0);
        }
    }

    /**
     * The copy gets its name when it is whole. On a full disk older ones go for it; where there is
     * no room even so, the log is cut without a copy: to be bounded is what this is for.
     */
    private void setAside(Path log, FileChannel from) throws IOException {
        Path next = log.resolveSibling(log.getFileName() + ".new");
        for (int oldest = keep; ; oldest--) {
            try {
                Files.deleteIfExists(next);
                copy(from, next);
                break;
            } catch (IOException e) {
                boolean full = Files.getFileStore(directory).getUsableSpace() < bytesMax;
                if (!full || oldest < 1) {
                    tell(log.getFileName() + " was cut without a copy: " + e);
                    return;
                }
                Files.deleteIfExists(numbered(log, oldest));
            }
        }
        for (int i = keep - 1; i >= 1; i--) {
            if (Files.exists(numbered(log, i))) {
                move(numbered(log, i), numbered(log, i + 1));
            }
        }
        move(next, numbered(log, 1));
    }

    private static void move(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.REPLACE_EXISTING);
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
