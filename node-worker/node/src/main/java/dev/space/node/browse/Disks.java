package dev.space.node.browse;

import dev.space.contract.node.SnapshotTaken;
import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.Size;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.sandbox.Sandbox;
import dev.space.node.sandbox.SandboxManager;
import dev.space.node.templates.TemplateSource;
import dev.space.node.volumes.SnapshotManifest;
import dev.space.node.volumes.SnapshotStore;
import dev.space.node.volumes.Volume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds the disk that somebody wants to look into, or makes a clone of one that is in use. */
public final class Disks {

    private static final Logger LOG = LoggerFactory.getLogger(Disks.class);
    private static final String DISK = "disk";

    /** A clone shares its blocks; what it costs is metadata. */
    private static final long CLONE_BYTES = 16 << 20;

    private final SandboxManager manager;
    private final SnapshotStore snapshots;
    private final TemplateSource templates;
    private final Volume volume;

    public Disks(
            SandboxManager manager,
            SnapshotStore snapshots,
            TemplateSource templates,
            Volume volume) {
        this.manager = manager;
        this.snapshots = snapshots;
        this.templates = templates;
        this.volume = volume;
    }

    /** An image that nobody writes to; closing it removes it where it was made for this. */
    public record Disk(Path image, Runnable remove) implements AutoCloseable {

        @Override
        public void close() {
            remove.run();
        }
    }

    private static Disk kept(Path image) {
        return new Disk(image, () -> {});
    }

    public Disk snapshot(SessionId session, SnapshotId snapshot) {
        var _ = snapshots.require(session, snapshot);
        return kept(snapshots.directory(session, snapshot).resolve(DISK));
    }

    /** What sandboxes of the template begin with; nothing is made for it. */
    public Disk template(String digest, Size size) {
        if (!templates.isReady(digest, size)) {
            throw new SpaceException(
                    ErrorCode.SNAPSHOT_NOT_FOUND,
                    "the template's start snapshot is not on this node; compare with a snapshot");
        }
        return kept(templates.start(digest, size).directory().resolve(DISK));
    }

    /**
     * The session's disk as it is now: a clone of the running sandbox's, with all that its guest
     * has written, or the one that it would go on from.
     */
    public Disk now(SessionId session) {
        Path live = new VmFiles(volume.session(session).resolve("live")).disk();
        Optional<Disk> clone =
                Files.isRegularFile(live, LinkOption.NOFOLLOW_LINKS)
                        ? cloned(session, live)
                        : Optional.empty();
        return clone.or(() -> newest(session))
                .orElseThrow(() ->
                        new SpaceException(
                                ErrorCode.SNAPSHOT_NOT_FOUND,
                                "no disk of " + session + " is on this node"));
    }

    private Optional<Disk> newest(SessionId session) {
        return snapshots.list(session).stream()
                .map(SnapshotManifest::taken)
                .max(
                        Comparator.comparingLong((SnapshotTaken t) -> t.epoch())
                                .thenComparingLong(t -> t.stop()))
                .map(taken -> snapshot(session, taken.snapshot()));
    }

    /** Empty when the sandbox ended meanwhile and left a snapshot. */
    private Optional<Disk> cloned(SessionId session, Path live) {
        volume.requireSpace(CLONE_BYTES);
        Path staged = volume.newStaging("browse");
        Optional<Sandbox> sandbox =
                manager.sandboxes().stream().filter(s -> s.session().equals(session)).findFirst();
        boolean frozen = sandbox.isPresent() && sandbox.get().vm().freezeFileSystem();
        boolean made = false;
        try {
            volume.cloner().cloneFile(live, staged.resolve(DISK));
            made = true;
            return Optional.of(new Disk(staged.resolve(DISK), () -> volume.discard(staged)));
        } catch (NoSuchFileException e) {
            LOG.debug("{} ended while its disk was to be cloned", session, e);
            return Optional.empty();
        } catch (IOException e) {
            throw volume.failed("clone the disk of " + session, e);
        } finally {
            if (frozen) {
                thaw(sandbox.get());
            }
            if (!made) {
                volume.discard(staged);
            }
        }
    }

    private static void thaw(Sandbox sandbox) {
        try {
            sandbox.vm().thawFileSystem();
        } catch (RuntimeException e) {
            LOG.warn("{} thaws its file system by itself", sandbox.session(), e);
        }
    }
}
