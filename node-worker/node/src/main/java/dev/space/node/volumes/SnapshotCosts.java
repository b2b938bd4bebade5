package dev.space.node.volumes;

import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.nativeabi.Extent;
import dev.space.nativeabi.ExtentMap;
import dev.space.nativeabi.NativeException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * What a session's snapshots cost on the disk: the bytes that they have and neither its running
 * sandbox nor its template has. Bytes that several share are those of the newest that has them, so
 * that the sum is what all cost, and an older one's share is what its removal brings, once all that
 * are older are gone.
 */
public final class SnapshotCosts {

    /** Runs of the device that were counted, by their start; they do not overlap. */
    private final TreeMap<Long, Long> counted = new TreeMap<>();

    private SnapshotCosts() {}

    /** The share of each, the newest first as they are given. */
    public static Map<SnapshotId, Long> of(
            Volume volume, SessionId session, List<SnapshotManifest> newestFirst) {
        SnapshotCosts costs = new SnapshotCosts();
        Path directory = volume.session(session);
        Map<SnapshotId, Long> shares = new LinkedHashMap<>();
        try {
            costs.add(directory.resolve("live"));
            for (String template :
                    newestFirst.stream().map(SnapshotManifest::template).distinct().toList()) {
                costs.add(volume.templates().resolve(template));
            }
            for (SnapshotManifest manifest : newestFirst) {
                SnapshotId id = manifest.taken().snapshot();
                shares.put(id, costs.add(directory.resolve("snapshots").resolve(id.value())));
            }
        } catch (IOException e) {
            throw volume.failed("measure " + directory, e);
        }
        return shares;
    }

    /** What the files of a tree have that was not counted yet; 0 where nothing is. */
    private long add(Path tree) throws IOException {
        if (!Files.isDirectory(tree, LinkOption.NOFOLLOW_LINKS)) {
            return 0;
        }
        long sum = 0;
        try (Stream<Path> files = Files.walk(tree)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                    sum += addFile(file);
                }
            }
        } catch (NoSuchFileException | UncheckedIOException e) {
            if (Files.isDirectory(tree, LinkOption.NOFOLLOW_LINKS)) {
                throw e; // else it was removed meanwhile
            }
        }
        return sum;
    }

    private long addFile(Path file) throws IOException {
        try {
            long sum = 0;
            for (Extent extent : ExtentMap.asItIs(file)) {
                boolean placed =
                        extent.physical() != 0
                                && !extent.has(Extent.UNKNOWN)
                                && !extent.has(Extent.DELALLOC);
                sum += placed ? count(extent.physical(), extent.length()) : 0;
            }
            return sum;
        } catch (NativeException e) {
            return switch (e.errno()) {
                case NativeException.ENOENT -> 0;
                case NativeException.EOPNOTSUPP -> Files.size(file); // nothing is shared there
                default -> throw e;
            };
        }
    }

    /** Adds a run; answers how much of it is new. */
    private long count(long from, long length) {
        long start = from;
        long end = from + length;
        long fresh = length;
        Entry<Long, Long> before = counted.floorEntry(start);
        if (before == null || before.getValue() < start) {
            before = counted.ceilingEntry(start);
        }
        while (before != null && before.getKey() <= end) {
            fresh -=
                    Math.max(
                            0,
                            Math.min(from + length, before.getValue())
                                    - Math.max(from, before.getKey()));
            start = Math.min(start, before.getKey());
            end = Math.max(end, before.getValue());
            counted.remove(before.getKey());
            before = counted.ceilingEntry(start);
        }
        counted.put(start, end);
        return fresh;
    }
}
