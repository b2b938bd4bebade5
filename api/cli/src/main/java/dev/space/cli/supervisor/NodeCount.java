package dev.space.cli.supervisor;

import dev.space.cli.config.ConfigKey;
import dev.space.cli.config.SpaceConfig;
import dev.space.cli.platform.Json;
import dev.space.cli.platform.NodePlace;
import dev.space.cli.platform.Platform;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How many nodes this machine runs. It is remembered, because a node that is left out takes the
 * sessions that are on it along.
 */
public final class NodeCount {

    /** What {@code run/nodes.json} holds. */
    record Stored(int count) {}

    private NodeCount() {}

    /**
     * Decides and remembers.
     *
     * @param asked by {@code up --nodes}; else the configuration's, else that of the last time
     */
    static int choose(Platform platform, SpaceConfig config, @Nullable Integer asked) {
        int count = asked != null ? asked : unasked(platform, config);
        Json.write(file(platform), new Stored(count));
        return count;
    }

    private static int unasked(Platform platform, SpaceConfig config) {
        int wanted =
                config.isSet(ConfigKey.NODES) ? config.number(ConfigKey.NODES) : stored(platform);
        // Whatever still lives is adopted: nobody else would look after it or end it.
        return NodePlace.all(platform).stream()
                .filter(place ->
                        place.services().stream()
                                .anyMatch(s -> ProcessRecord.live(platform, s).isPresent()))
                .mapToInt(NodePlace::number)
                .reduce(wanted, Math::max);
    }

    /** That of the last start; one before the first. */
    public static int stored(Platform platform) {
        return Json.read(file(platform), Stored.class).map(Stored::count).orElse(1);
    }

    /** The nodes of the last start. */
    public static List<NodePlace> places(Platform platform) {
        return NodePlace.first(platform, stored(platform));
    }

    private static Path file(Platform platform) {
        return platform.run().resolve("nodes.json");
    }
}
