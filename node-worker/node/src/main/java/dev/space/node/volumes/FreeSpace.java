package dev.space.node.volumes;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What is free where a volume lies. btrfs calls space free that is promised already: to pages that
 * were written to memory and have no place on the disk yet, which may be gigabytes.
 */
final class FreeSpace {

    private static final Path FILE_SYSTEMS = Path.of("/sys/fs/btrfs");
    private static final List<String> PROMISED = List.of("bytes_may_use", "bytes_reserved");

    private final FileStore store;
    private final List<Path> promised;

    private FreeSpace(FileStore store, List<Path> promised) {
        this.store = store;
        this.promised = promised;
    }

    static FreeSpace of(Path root) throws IOException {
        FileStore store = Files.getFileStore(root);
        return new FreeSpace(
                store, store.type().equals("btrfs") ? promised(store.name()) : List.of());
    }

    /** The kernel's counters of the file system that lies on this device; none when not found. */
    private static List<Path> promised(String device) {
        Path name = Path.of(device).getFileName();
        for (Path system : Volume.children(FILE_SYSTEMS)) {
            if (name != null && Files.exists(system.resolve("devices").resolve(name))) {
                Path data = system.resolve("allocation/data");
                List<Path> found = new ArrayList<>();
                for (String counter : PROMISED) {
                    if (Files.isReadable(data.resolve(counter))) {
                        found.add(data.resolve(counter));
                    }
                }
                return found;
            }
        }
        return List.of();
    }

    /** True when promises are counted. */
    boolean countsPromises() {
        return !promised.isEmpty();
    }

    long freeBytes() throws IOException {
        long free = store.getUsableSpace();
        for (Path counter : promised) {
            free -= Long.parseLong(Files.readString(counter).strip());
        }
        return Math.max(0, free);
    }

    long totalBytes() throws IOException {
        return store.getTotalSpace();
    }
}
