package dev.space.node.volumes;

import dev.space.contract.node.SnapshotTaken;
import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
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

    private final Volume volume;

    /** A published manifest never changes; whether it is still there is looked up each time. */
    private final Map<Path, SnapshotManifest> known = new ConcurrentHashMap<>();

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
                    staged.resolve(SnapshotManifest.FILE), Json.MAPPER.writeValueAsBytes(manifest));
        } catch (IOException e) {
            throw volume.failed("write the manifest in " + staged, e);
        }
        volume.makeDirectory(all(session));
        volume.publish(staged, directory(session, manifest.taken().snapshot()));
    }

    /** Gives a fetched snapshot its name; its own manifest must be in it, and name it so. */
    public SnapshotManifest publishFetched(SessionId session, Path staged, SnapshotId snapshot) {
        SnapshotManifest manifest = manifest(staged.resolve(SnapshotManifest.FILE), snapshot);
        Path directory = directory(session, snapshot);
        volume.makeDirectory(all(session));
        volume.discard(directory); // what has no readable manifest
        volume.publish(staged, directory);
        return manifest;
    }

    private static SnapshotManifest manifest(Path file, SnapshotId snapshot) {
        try {
            SnapshotManifest read =
                    Json.MAPPER.readValue(Files.readAllBytes(file), SnapshotManifest.class);
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
        SnapshotManifest before = known.get(directory);
        if (before != null) {
            return Optional.of(before);
        }
        try {
            SnapshotManifest read =
                    Json.MAPPER.readValue(Files.readAllBytes(file), SnapshotManifest.class);
            known.put(directory, read);
            return Optional.of(read);
        } catch (IOException e) {
            LOG.warn("{} cannot be read and counts as absent", file, e);
            return Optional.empty();
        }
    }
}
