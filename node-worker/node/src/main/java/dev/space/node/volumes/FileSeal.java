package dev.space.node.volumes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * How a snapshot's file was when it was published, after which nobody writes it. Whatever changes
 * or cuts it through the file system shows here; what a disk does to it, btrfs tells by its own
 * checksums when it is read.
 */
public record FileSeal(String name, long bytes, long mtimeNanos) {

    private static final List<String> NAMES = List.of("disk", "ram", "device");

    /** Of each of a snapshot's files that is there. */
    static List<FileSeal> of(Path directory) throws IOException {
        List<FileSeal> seals = new ArrayList<>();
        for (String name : NAMES) {
            Path file = directory.resolve(name);
            if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                BasicFileAttributes now = attributes(file);
                seals.add(new FileSeal(name, now.size(), mtime(now)));
            }
        }
        return seals;
    }

    /** What is wrong with the file now; empty when nothing is. */
    Optional<String> damage(Path directory) throws IOException {
        Path file = directory.resolve(name);
        BasicFileAttributes now;
        try {
            now = attributes(file);
        } catch (NoSuchFileException e) {
            return Optional.of("its file " + name + " is missing");
        }
        if (!now.isRegularFile()) {
            return Optional.of("its " + name + " is no file any more");
        }
        if (now.size() != bytes) {
            return Optional.of(
                    "its file %s has %d bytes instead of %d".formatted(name, now.size(), bytes));
        }
        return mtime(now) == mtimeNanos
                ? Optional.empty()
                : Optional.of("its file " + name + " was written after it was taken");
    }

    private static BasicFileAttributes attributes(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }

    private static long mtime(BasicFileAttributes attributes) {
        return attributes.lastModifiedTime().to(TimeUnit.NANOSECONDS);
    }
}
