package dev.space.node.egress;

import dev.space.node.volumes.DurableFiles;
import dev.space.node.volumes.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a running sandbox had, beside its journal, for this process's next start. */
record NetworkFile(long epoch, NetworkPolicy policy, List<SyntheticAddress> addresses) {

    private static final Logger LOG = LoggerFactory.getLogger(NetworkFile.class);
    private static final String NAME = "network.json";

    NetworkFile {
        addresses = List.copyOf(addresses);
    }

    /**
     * Null where there is none of this epoch's that can be read: then the control plane is asked.
     */
    static @Nullable NetworkFile read(Path directory, long epoch) {
        Path file = directory.resolve(NAME);
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return null;
        }
        try {
            NetworkFile read = Json.MAPPER.readValue(Files.readAllBytes(file), NetworkFile.class);
            return read.epoch() == epoch ? read : null;
        } catch (IOException | RuntimeException e) {
            LOG.warn("{} cannot be read", file, e);
            return null;
        }
    }

    void write(Path directory) {
        try {
            DurableFiles.replace(directory.resolve(NAME), Json.MAPPER.writeValueAsBytes(this));
        } catch (IOException e) {
            LOG.warn("what a sandbox may reach is not written in {}", directory, e);
        }
    }

    static void remove(Path directory) {
        try {
            Files.deleteIfExists(directory.resolve(NAME));
        } catch (IOException e) {
            LOG.warn("{} is left in {}", NAME, directory, e);
        }
    }
}
