package dev.space.manager;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** What both versions do with files: writing knobs, waiting for them, removing directories. */
final class CgroupFiles {

    private static final long STEP_NANOS = 2_000_000;

    /** A condition on the machine. */
    interface Condition {
        boolean holds() throws IOException;
    }

    private CgroupFiles() {}

    /** Knobs are never created, only written. */
    static void write(Path knob, String value) throws IOException {
        Files.writeString(
                knob, value, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
    }

    /** The kernel has no event for these conditions, so they are looked at until the deadline. */
    static boolean await(Duration timeout, Condition condition) throws IOException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!condition.holds()) {
            if (System.nanoTime() - deadline >= 0) {
                return false;
            }
            LockSupport.parkNanos(STEP_NANOS);
        }
        return true;
    }

    /** rmdir; a directory that is not there is removed. Dying tasks may hold it for a moment. */
    static void remove(Path directory) throws IOException {
        boolean gone =
                await(
                        Duration.ofSeconds(2),
                        () -> {
                            try {
                                return !Files.exists(directory) || directory.toFile().delete();
                            } catch (SecurityException e) {
                                throw new IOException(e);
                            }
                        });
        if (!gone) {
            throw new IOException(directory + " cannot be removed; something is still in it");
        }
    }

    static void names(Path parent, Set<String> into) throws IOException {
        try (Stream<Path> children = Files.list(parent)) {
            children.filter(Files::isDirectory)
                    .forEach(c -> into.add(String.valueOf(c.getFileName())));
        } catch (NoSuchFileException e) {
            // Nothing was ever made here.
        }
    }

    static Set<String> newNames() {
        return new TreeSet<>();
    }
}
