package dev.space.node.volumes;

import dev.space.contract.node.SnapshotTaken;
import dev.space.model.ErrorCode;
import dev.space.model.Instead;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The published snapshots of sessions on one volume. */
public final class SnapshotStore {

    private static final Logger LOG = LoggerFactory.getLogger(SnapshotStore.class);

    private static final Comparator<SnapshotTaken> NEWEST_FIRST =
            Comparator.comparingLong(SnapshotTaken::epoch)
                    .thenComparingLong(SnapshotTaken::stop)
                    .reversed();

    private final Volume volume;

    /** What was read; whether the file is still that is looked up each time. */
    private record Known(SnapshotManifest manifest, FileTime written) {}

    private final Map<Path, Known> known = new ConcurrentHashMap<>();

    public SnapshotStore(Volume volume) {
        this.volume = volume;
    }

    private Path all(SessionId session) {
        return volume.session(session).resolve("snapshots");
    }

    public Path directory(SessionId session, SnapshotId snapshot) {
        return all(session).resolve(snapshot.value());
    }

    /** A published snapshot's manifest; empty when there is none. */
    public Optional<SnapshotManifest> find(SessionId session, SnapshotId snapshot) {
        return read(directory(session, snapshot));
    }

    public SnapshotManifest require(SessionId session, SnapshotId snapshot) {
        return find(session, snapshot)
                .orElseThrow(() ->
                        new SpaceException(
                                ErrorCode.SNAPSHOT_NOT_FOUND,
                                "snapshot " + snapshot + " is not on this node"));
    }

    /**
     * The manifest of a snapshot that nothing is wrong with, as far as can be told without reading
     * all of it; else the refusal names the damage, and what to go back to instead.
     */
    public SnapshotManifest requireGood(SessionId session, SnapshotId snapshot) {
        Optional<String> damage = damage(session, snapshot);
        if (damage.isPresent()) {
            throw new SpaceException(
                    ErrorCode.SNAPSHOT_CORRUPT,
                    "snapshot "
                            + snapshot
                            + " is damaged: "
                            + damage.get()
                            + newestGood(session, snapshot)
                                    .map(good -> "; " + Instead.checked(good))
                                    .orElse(""));
        }
        return require(session, snapshot);
    }

    /** What is wrong with a snapshot; empty for a good one, and for one that is not here. */
    public Optional<String> damage(SessionId session, SnapshotId snapshot) {
        Path directory = directory(session, snapshot);
        Optional<SnapshotManifest> manifest = read(directory);
        if (manifest.isEmpty()) {
            // It got its name with a manifest in it.
            return Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)
                    ? Optional.of("its file " + SnapshotManifest.FILE + " cannot be read")
                    : Optional.empty();
        }
        List<FileSeal> seals = manifest.get().files();
        try {
            for (FileSeal seal : seals == null ? List.<FileSeal>of() : seals) {
                Optional<String> damage = seal.damage(directory);
                if (damage.isPresent()) {
                    return damage;
                }
            }
        } catch (IOException e) {
            throw volume.failed("look at " + directory, e);
        }
        return Optional.empty();
    }

    /** The newest of the session's that has all that it needs. */
    private Optional<SnapshotId> newestGood(SessionId session, SnapshotId but) {
        return list(session).stream()
                .map(SnapshotManifest::taken)
                .filter(taken -> !taken.snapshot().equals(but))
                .sorted(NEWEST_FIRST)
                .map(SnapshotTaken::snapshot)
                .filter(other -> damage(session, other).isEmpty())
                .findFirst();
    }

    public List<SnapshotManifest> list(SessionId session) {
        List<SnapshotManifest> found = new ArrayList<>();
        for (Path directory : Volume.children(all(session))) {
            read(directory).ifPresent(found::add);
        }
        return found;
    }

    /** Writes the manifest and gives the staged directory its name, durably. */
    public void publish(SessionId session, Path staged, SnapshotManifest manifest) {
        try {
            DurableFiles.writeNew(
                    staged.resolve(SnapshotManifest.FILE),
                    ManifestFile.bytes(manifest.sealed(FileSeal.of(staged))));
        } catch (IOException e) {
            throw volume.failed("write the manifest in " + staged, e);
        }
        volume.makeDirectory(all(session));
        volume.publish(staged, directory(session, manifest.taken().snapshot()));
    }

    /** Gives a fetched snapshot its name; its own manifest must be in it, and name it so. */
    public SnapshotManifest publishFetched(SessionId session, Path staged, SnapshotId snapshot) {
        SnapshotManifest manifest = manifest(staged.resolve(SnapshotManifest.FILE), snapshot);
        try { // of the files that were made here
            DurableFiles.replace(
                    staged.resolve(SnapshotManifest.FILE),
                    ManifestFile.bytes(manifest.sealed(FileSeal.of(staged))));
        } catch (IOException e) {
            throw volume.failed("write the manifest in " + staged, e);
        }
        Path directory = directory(session, snapshot);
        volume.makeDirectory(all(session));
        volume.discard(directory); // what has no readable manifest
        volume.publish(staged, directory);
        return manifest;
    }

    private static SnapshotManifest manifest(Path file, SnapshotId snapshot) {
        try {
            SnapshotManifest read = ManifestFile.read(file);
            @Nullable SnapshotTaken taken = read.taken(); // JSON may leave it out
            if (taken != null && snapshot.equals(taken.snapshot())) {
                return read;
            }
            throw corrupt("it is of another one", null);
        } catch (IOException e) {
            throw corrupt("it cannot be read", e);
        }
    }

    private static SpaceException corrupt(String why, @Nullable Exception cause) {
        return new SpaceException(
                ErrorCode.SNAPSHOT_CORRUPT,
                "the stored snapshot's " + SnapshotManifest.FILE + ": " + why,
                cause);
    }

    public void delete(SessionId session, SnapshotId snapshot) {
        Path directory = directory(session, snapshot);
        volume.discard(directory);
        known.remove(directory);
    }

    /** The session is released: nothing of it is asked for again. */
    public void forget(SessionId session) {
        Path all = all(session);
        known.keySet().removeIf(directory -> directory.startsWith(all));
    }

    private Optional<SnapshotManifest> read(Path directory) {
        Path file = directory.resolve(SnapshotManifest.FILE);
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        try {
            Known before = known.get(directory);
            FileTime written = Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS);
            if (before != null && before.written().equals(written)) {
                return Optional.of(before.manifest());
            }
            SnapshotManifest read = ManifestFile.read(file);
            known.put(directory, new Known(read, written));
            return Optional.of(read);
        } catch (IOException e) {
            LOG.warn("{} cannot be read and counts as absent", file, e);
            return Optional.empty();
        }
    }
}
