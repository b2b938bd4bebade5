package dev.space.node.volumes;

import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One volume's directories. Everything is made in {@code staging} and gets its name by a rename;
 * removal is a rename to {@code trash}. Names are unique over restarts because both are emptied at
 * start-up, after live sandboxes were adopted.
 */
public final class Volume {

    private static final Logger LOG = LoggerFactory.getLogger(Volume.class);

    /** Directories are traversed by slot groups, never listed by them. */
    private static final String DIRECTORY_MODE = "rwx--x---";

    private final Path root;
    private final FileCloner cloner;
    private final long reserveBytes;
    private final AtomicLong names = new AtomicLong(System.nanoTime());
    private volatile @Nullable FreeSpace space;

    /**
     * @param reserveBytes free space below which nothing new is made, so that the file system is
     *     never driven to its end
     */
    public Volume(Path root, FileCloner cloner, long reserveBytes) {
        this.root = root;
        this.cloner = cloner;
        this.reserveBytes = reserveBytes;
        for (Path directory : List.of(root, templates(), sessions(), staging(), trash())) {
            makeDirectory(directory);
        }
    }

    public Path templates() {
        return root.resolve("templates");
    }

    public Path sessions() {
        return root.resolve("sessions");
    }

    public Path staging() {
        return root.resolve("staging");
    }

    public Path trash() {
        return root.resolve("trash");
    }

    public Path session(SessionId id) {
        return sessions().resolve(id.value());
    }

    public FileCloner cloner() {
        return cloner;
    }

    /** A new empty directory in staging. */
    public Path newStaging(String purpose) {
        Path directory = staging().resolve(purpose + "-" + names.incrementAndGet());
        makeDirectory(directory);
        return directory;
    }

    /** Makes a directory that slot groups may traverse; an existing one is left as it is. */
    public void makeDirectory(Path directory) {
        try {
            if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
                return;
            }
            Files.createDirectories(DurableFiles.parent(directory));
            Files.createDirectory(directory);
            // Not by the creation attribute: the umask would narrow it.
            Files.setPosixFilePermissions(
                    directory, PosixFilePermissions.fromString(DIRECTORY_MODE));
        } catch (FileAlreadyExistsException e) {
            LOG.debug("{} was made by another thread", directory, e);
        } catch (IOException e) {
            throw failed("make " + directory, e);
        }
    }

    /**
     * Gives a staged directory its name so that it survives a loss of power: files, directory,
     * rename, parent. The target must not exist.
     */
    public void publish(Path staged, Path target) {
        try {
            DurableFiles.syncTree(staged);
            Files.move(staged, target, StandardCopyOption.ATOMIC_MOVE);
            DurableFiles.syncDirectory(DurableFiles.parent(target));
        } catch (IOException e) {
            throw failed("publish " + target, e);
        }
    }

    /** Gives a staged directory its name without waiting for the disk. */
    public void moveIntoPlace(Path staged, Path target) {
        try {
            Files.move(staged, target, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw failed("move to " + target, e);
        }
    }

    /** Removes a tree: away from its name at once, its blocks later. Nothing there is success. */
    public void discard(Path tree) {
        if (!Files.exists(tree, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        Path grave = trash().resolve(tree.getFileName() + "-" + names.incrementAndGet());
        try {
            Files.move(tree, grave, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw failed("remove " + tree, e);
        }
        Thread.ofVirtual().name("trash").start(() -> bury(grave));
    }

    private static void bury(Path grave) {
        try {
            DurableFiles.deleteTree(grave);
        } catch (IOException e) {
            LOG.warn("{} stays until the next start", grave, e);
        }
    }

    /** Removes what an earlier process left half made. Only after live sandboxes were adopted. */
    public void emptyStagingAndTrash() {
        for (Path directory : List.of(staging(), trash())) {
            for (Path child : children(directory)) {
                bury(child);
            }
        }
    }

    /** The entries of a directory, none when it does not exist. */
    public static List<Path> children(Path directory) {
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(directory)) {
            return all.sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What may still be written; what is promised to pages that wait in memory is not free. */
    public long freeBytes() {
        try {
            return space().freeBytes();
        } catch (IOException e) {
            throw failed("look at the free space of " + root, e);
        }
    }

    public long totalBytes() {
        try {
            return space().totalBytes();
        } catch (IOException e) {
            throw failed("look at the size of " + root, e);
        }
    }

    private FreeSpace space() throws IOException {
        FreeSpace known = space;
        if (known == null) {
            known = FreeSpace.of(root);
            space = known;
        }
        return known;
    }

    public long reserveBytes() {
        return reserveBytes;
    }

    /** Fails with {@code NODE_DISK_FULL} when less than the reserve and this much is free. */
    public void requireSpace(long bytes) {
        require(reserveBytes, bytes);
    }

    /**
     * As {@link #requireSpace} for what may use the reserve, because it ends something that writes.
     */
    public void requireRoom(long bytes) {
        require(0, bytes);
    }

    private void require(long reserve, long bytes) {
        long free = freeBytes();
        if (free < reserve + bytes) {
            throw new SpaceException(
                    ErrorCode.NODE_DISK_FULL,
                    "%d MiB are free, %d MiB are kept in reserve and %d MiB are needed; suspend"
                                    .formatted(free >> 20, reserve >> 20, bytes >> 20)
                            + " or delete sessions, delete snapshots, or give the node a larger disk");
        }
    }

    /** The failure of an operation on this volume: a full disk is told from a broken one. */
    public SpaceException failed(String what, IOException cause) {
        if (DiskFull.is(cause)) {
            return new SpaceException(ErrorCode.NODE_DISK_FULL, "no space left to " + what, cause);
        }
        return new SpaceException(ErrorCode.INTERNAL, "could not " + what, cause);
    }
}
