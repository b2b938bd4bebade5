package dev.space.cli.platform;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;

/**
 * The btrfs file system of one node: the data directory's own, or a loop image that is
 * preallocated, so that the host's disk cannot run full under a mounted file system.
 */
public final class NodeVolume {

    private static final Duration MKFS_MAX = Duration.ofMinutes(5);
    private static final Duration MOUNT_MAX = Duration.ofMinutes(1);
    private static final long GIB = 1L << 30;

    /** Left to the host beside the image. */
    private static final long HOST_RESERVE_BYTES = 2 * GIB;

    private static final int UMOUNT_ATTEMPTS = 20;
    private static final Duration UMOUNT_PAUSE = Duration.ofMillis(250);

    private final Path node;
    private final Path image;

    public NodeVolume(NodePlace place) {
        this.node = place.data();
        this.image = place.image();
    }

    /** Answers in words what was done. */
    public String mount(int gib) {
        try {
            Files.createDirectories(node);
            if (isBtrfs()) {
                return isMountPoint() ? "mounted already" : "on the host's btrfs";
            }
            if (!Files.exists(image)) {
                create(gib);
            }
            // nodiscard: a discard would give the preallocated blocks back to the host.
            var _ =
                    Command.must(
                            MOUNT_MAX,
                            "mount",
                            "-t",
                            "btrfs",
                            "-o",
                            "loop,noatime,nodiscard,nosuid,nodev,noexec",
                            image.toString(),
                            node.toString());
            return "loop image of " + Files.size(image) / GIB + " GiB mounted";
        } catch (IOException e) {
            throw new PlatformException("cannot prepare " + node + ": " + e.getMessage(), e);
        }
    }

    private void create(int gib) throws IOException {
        long free = Files.getFileStore(image.getParent()).getUsableSpace();
        long wanted = gib * GIB;
        if (free < wanted + HOST_RESERVE_BYTES) {
            throw new PlatformException(
                    "%s needs %d GiB and 2 GiB beside it, but only %d MiB are free there:"
                                    .formatted(image, gib, free >> 20)
                            + " free some or set space.node.volume-gib lower");
        }
        Path next = image.resolveSibling(image.getFileName() + ".new");
        Files.deleteIfExists(next);
        var _ = Command.must(MKFS_MAX, "fallocate", "-l", gib + "GiB", next.toString());
        var _ = Command.must(MKFS_MAX, "mkfs.btrfs", "-q", "-L", "space-node", next.toString());
        Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rw-------"));
        Files.move(next, image);
    }

    /** Unmounts a loop image; what is still busy is told with its users. */
    public void unmount() {
        if (!Files.exists(image) || !isMountPoint()) {
            return;
        }
        Command.Result last = null;
        for (int i = 0; i < UMOUNT_ATTEMPTS; i++) {
            last = Command.run(MOUNT_MAX, List.of("umount", node.toString()));
            if (last.ok()) {
                return;
            }
            Pause.of(UMOUNT_PAUSE);
        }
        throw new PlatformException(
                "cannot unmount " + node + ": " + (last == null ? "" : last.output()));
    }

    public boolean isMountPoint() {
        try {
            return Files.readAllLines(Path.of("/proc/self/mounts")).stream()
                    .map(line -> line.split(" ", -1))
                    .anyMatch(f -> f.length > 1 && f[1].equals(escape(node.toString())));
        } catch (IOException e) {
            throw new PlatformException("cannot read /proc/self/mounts", e);
        }
    }

    private static String escape(String path) {
        return path.replace(" ", "\\040");
    }

    private boolean isBtrfs() throws IOException {
        return Files.getFileStore(node).type().equals("btrfs");
    }
}
