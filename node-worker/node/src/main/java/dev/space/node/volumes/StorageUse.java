package dev.space.node.volumes;

import dev.space.model.SessionId;
import dev.space.nativeabi.Extent;
import dev.space.nativeabi.ExtentMap;
import dev.space.nativeabi.NativeException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a session costs on the node's disk: its running sandbox and each of its snapshots. Clones
 * share their bytes, so it tells beside all bytes those that no other file has.
 *
 * @param part {@code live}, or a snapshot's id
 * @param bytes bytes that have a place on the disk, or will have one
 * @param exclusiveBytes of these, what is shared with no other file
 */
public record StorageUse(String part, long bytes, long exclusiveBytes) {

    private static final String LIVE = "live";
    private static final String SNAPSHOTS = "snapshots";

    /** Every part of the session that is there; nothing is written for it. */
    public static List<StorageUse> of(Volume volume, SessionId session) {
        Path directory = volume.session(session);
        List<StorageUse> parts = new ArrayList<>();
        Path live = directory.resolve(LIVE);
        if (Files.isDirectory(live, LinkOption.NOFOLLOW_LINKS)) {
            parts.add(measured(volume, LIVE, live));
        }
        for (Path snapshot : Volume.children(directory.resolve(SNAPSHOTS))) {
            parts.add(measured(volume, snapshot.getFileName().toString(), snapshot));
        }
        return parts;
    }

    /** What runs alone, without its snapshots. */
    public static StorageUse live(Volume volume, SessionId session) {
        return measured(volume, LIVE, volume.session(session).resolve(LIVE));
    }

    private static StorageUse measured(Volume volume, String part, Path directory) {
        StorageUse sum = new StorageUse(part, 0, 0);
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                    sum = sum.plus(file);
                }
            }
        } catch (UncheckedIOException e) {
            failedUnlessGone(volume, directory, new IOException(e.getCause()));
        } catch (IOException e) {
            failedUnlessGone(volume, directory, e);
        }
        return sum;
    }

    /** Removed meanwhile: what was counted until then is as true as anything. */
    private static void failedUnlessGone(Volume volume, Path directory, IOException e) {
        boolean gone =
                e instanceof NoSuchFileException
                        || e.getCause() instanceof NoSuchFileException
                        || !Files.isDirectory(directory);
        if (!gone) {
            throw volume.failed("measure " + directory, e);
        }
    }

    private StorageUse plus(Path file) throws IOException {
        try {
            long all = bytes;
            long own = exclusiveBytes;
            for (Extent extent : ExtentMap.asItIs(file)) {
                all += extent.length();
                own += extent.has(Extent.SHARED) ? 0 : extent.length();
            }
            return new StorageUse(part, all, own);
        } catch (NativeException e) {
            return switch (e.errno()) {
                case NativeException.ENOENT -> this;
                // a file system that shares nothing
                case NativeException.EOPNOTSUPP -> plusWhole(file);
                default -> throw e;
            };
        }
    }

    private StorageUse plusWhole(Path file) throws IOException {
        try {
            long size = Files.size(file);
            return new StorageUse(part, bytes + size, exclusiveBytes + size);
        } catch (NoSuchFileException gone) {
            return this;
        }
    }
}
