package dev.space.cli.platform;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Optional;

/** The file system that the platform's own files lie on, beside the nodes' volumes. */
public final class HostDisk {

    /** With less, the database, logs and state files cannot be written for sure. */
    private static final long LEAST_BYTES = 64L << 20;

    private HostDisk() {}

    /** What is wrong with it, in words; empty when there is room. */
    public static Optional<String> complaint(Platform platform) {
        try {
            long left = Files.getFileStore(platform.data()).getUsableSpace();
            return left >= LEAST_BYTES
                    ? Optional.empty()
                    : Optional.of(
                            "only %d MiB are left on the file system of %s: make room first"
                                    .formatted(left >> 20, platform.data()));
        } catch (IOException e) {
            return Optional.empty(); // not there: nothing to be full
        }
    }
}
