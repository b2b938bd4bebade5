package dev.space.cli.command;

import dev.space.cli.config.ConfigException;
import dev.space.cli.config.ConfigKey;
import dev.space.cli.config.SpaceConfig;
import dev.space.cli.platform.NodePlace;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.cli.platform.Ports;
import dev.space.cli.supervisor.NodeCount;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What this machine's nodes tell in their own metrics: VMs that wait for sessions, and what
 * snapshots cost.
 */
final class NodePools {

    private static final Duration ASK_MAX = Duration.ofSeconds(1);
    private static final String HOT = "space_node_pool_hot";
    private static final String PREPARED = "space_node_pool_prepared";
    private static final String USED = "space_node_snapshots_bytes";
    private static final String USED_MAX = "space_node_snapshots_max_bytes";
    private static final String SESSION = "space_node_session_snapshots_bytes";
    private static final String SESSION_MAX = "space_node_session_snapshots_max_bytes";
    private static final Set<String> NAMES =
            Set.of(HOT, PREPARED, USED, USED_MAX, SESSION, SESSION_MAX);

    private NodePools() {}

    /** What one node keeps ready. */
    record Pool(long hot, long prepared) {}

    /**
     * What snapshots cost on a node's disk, and what they may; a bound of 0 is none.
     *
     * @param largestSessionBytes of the session with the most
     */
    record Snapshots(long bytes, long bytesMax, long largestSessionBytes, long sessionBytesMax) {}

    /** All that is told of one node. */
    record Figures(Pool pool, @Nullable Snapshots snapshots) {}

    /** By the node's id; one that does not answer is left out. */
    static Map<String, Figures> of(Platform platform) {
        Map<String, Figures> pools = new HashMap<>();
        Optional<Ports> ports = Ports.stored(platform);
        if (ports.isEmpty()) {
            return pools;
        }
        try (HttpClient http = HttpClient.newBuilder().connectTimeout(ASK_MAX).build()) {
            String id = SpaceConfig.load(platform.config()).text(ConfigKey.NODE_ID);
            for (NodePlace place : NodeCount.places(platform)) {
                int port = ports.get().of(place.httpPort());
                metrics(http, port)
                        .flatMap(NodePools::read)
                        .ifPresent(pool -> pools.put(place.id(id), pool));
            }
        } catch (ConfigException | PlatformException unreadable) {
            // What is known without it is shown all the same.
            return pools;
        }
        return pools;
    }

    private static Optional<String> metrics(HttpClient http, int port) {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"))
                        .timeout(ASK_MAX)
                        .build();
        try {
            HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
            return answer.statusCode() == 200 ? Optional.of(answer.body()) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    /** From a page in Prometheus' text format. */
    static Optional<Figures> read(String metrics) {
        Map<String, Long> values = new HashMap<>();
        metrics.lines()
                .map(line -> line.split(" ", -1))
                .filter(part -> part.length == 2 && NAMES.contains(part[0]))
                .forEach(part -> values.put(part[0], Math.round(Double.parseDouble(part[1]))));
        Long hot = values.get(HOT);
        Long prepared = values.get(PREPARED);
        return hot == null || prepared == null
                ? Optional.empty()
                : Optional.of(new Figures(new Pool(hot, prepared), snapshots(values)));
    }

    private static @Nullable Snapshots snapshots(Map<String, Long> values) {
        return values.size() < NAMES.size()
                ? null
                : new Snapshots(
                        values.getOrDefault(USED, 0L),
                        values.getOrDefault(USED_MAX, 0L),
                        values.getOrDefault(SESSION, 0L),
                        values.getOrDefault(SESSION_MAX, 0L));
    }
}
