package dev.space.node.engine.spi;

import java.nio.file.Path;

/**
 * The files of one VM. All exist before the VM starts; the VM may create no name.
 *
 * @param directory the session's {@code live/}
 */
public record VmFiles(Path directory) {

    public Path disk() {
        return directory.resolve("disk");
    }

    public Path ram() {
        return directory.resolve("ram");
    }

    /** Device state: read at a restore, written at a snapshot. */
    public Path device() {
        return directory.resolve("device");
    }

    public Path console() {
        return directory.resolve("console");
    }
}
