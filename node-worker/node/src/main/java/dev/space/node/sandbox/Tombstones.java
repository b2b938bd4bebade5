package dev.space.node.sandbox;

import dev.space.model.Fence;
import dev.space.model.SessionId;
import dev.space.node.volumes.DurableFiles;
import dev.space.node.volumes.Json;
import dev.space.node.volumes.Volume;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The highest fence of sessions whose files are gone, so that a late attempt of an old step cannot
 * bring one back. Kept longer than any call can be under way.
 */
final class Tombstones {

    /** Longer than any activity's schedule-to-close time-out. */
    static final Duration KEPT = Duration.ofHours(24);

    private static final Logger LOG = LoggerFactory.getLogger(Tombstones.class);

    private final Path directory;

    Tombstones(Path stateDirectory) {
        this.directory = stateDirectory.resolve("fences");
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void write(SessionId session, Fence highest) {
        try {
            DurableFiles.replace(file(session), Json.MAPPER.writeValueAsBytes(highest));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Nullable Fence find(SessionId session) {
        Path file = file(session);
        if (!Files.exists(file)) {
            return null;
        }
        try {
            return Json.MAPPER.readValue(Files.readAllBytes(file), Fence.class);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Removes what no call can be late for any more. */
    void sweep(Instant now) {
        for (Path file : Volume.children(directory)) {
            try {
                if (Files.getLastModifiedTime(file).toInstant().isBefore(now.minus(KEPT))) {
                    Files.deleteIfExists(file);
                }
            } catch (IOException e) {
                LOG.warn("{} stays until the next sweep", file, e);
            }
        }
    }

    private Path file(SessionId session) {
        return directory.resolve(session.value());
    }
}
