package dev.space.cli.platform;

import dev.space.cli.config.ConfigKey;
import dev.space.cli.config.SpaceConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The loopback ports of one platform. A port that nobody configured is chosen free at the first
 * start and kept in {@code run/ports.json}, so that addresses stay the same from then on.
 */
public record Ports(Map<String, Integer> byName) {

    /** Below the kernel's ephemeral range, so that no outgoing connection sits on one. */
    private static final int FIRST = 7400;

    private static final int LAST = 32_000;

    private static final Map<String, ConfigKey> KEYS =
            Map.of(
                    "control", ConfigKey.PORT_CONTROL,
                    "postgres", ConfigKey.PORT_POSTGRES,
                    "temporal", ConfigKey.PORT_TEMPORAL,
                    "temporal-ui", ConfigKey.PORT_TEMPORAL_UI,
                    "temporal-http", ConfigKey.PORT_TEMPORAL_HTTP,
                    "temporal-metrics", ConfigKey.PORT_TEMPORAL_METRICS,
                    "node-api", ConfigKey.PORT_NODE_API,
                    "node-http", ConfigKey.PORT_NODE_HTTP,
                    "gateway-http", ConfigKey.PORT_GATEWAY_HTTP,
                    "objects", ConfigKey.PORT_OBJECTS);

    private static final List<String> NAMES =
            List.of(
                    "control",
                    "temporal-ui",
                    "postgres",
                    "temporal",
                    "temporal-http",
                    "temporal-metrics",
                    "node-api",
                    "node-http",
                    "objects");

    public int of(String name) {
        Integer port = byName.get(name);
        if (port == null) {
            throw new IllegalArgumentException("no port named " + name);
        }
        return port;
    }

    /** The ports of a platform that was started before. */
    public static Optional<Ports> stored(Platform platform) {
        return Json.read(file(platform), Ports.class)
                .filter(p -> p.byName().keySet().containsAll(NAMES));
    }

    /**
     * Chooses and stores.
     *
     * @param nodes how many nodes need ports; those of the first may be configured
     * @param held names whose port is held by a living process of this very platform
     */
    public static Ports choose(Platform platform, SpaceConfig config, int nodes, Set<String> held) {
        Map<String, Integer> before = stored(platform).map(Ports::byName).orElse(Map.of());
        Map<String, Integer> chosen = new TreeMap<>();
        Set<Integer> taken = new HashSet<>(before.values());
        for (String name : names(platform, nodes)) {
            ConfigKey key = KEYS.get(name);
            int wanted = key == null ? 0 : config.number(key);
            int earlier = before.getOrDefault(name, 0);
            if (key != null && wanted != 0) {
                demandOwn(key, wanted, chosen);
                if (wanted != earlier || !held.contains(name)) {
                    demandFree(name, key, wanted);
                }
                chosen.put(name, wanted);
            } else if (earlier != 0 && (held.contains(name) || isFree(earlier))) {
                chosen.put(name, earlier);
            } else {
                chosen.put(name, nextFree(platform, taken));
            }
            taken.add(chosen.get(name));
        }
        Ports ports = new Ports(chosen);
        Json.write(file(platform), ports);
        return ports;
    }

    private static List<String> names(Platform platform, int nodes) {
        return Stream.concat(
                        NAMES.stream(),
                        NodePlace.first(platform, nodes).stream().flatMap(p -> p.ports().stream()))
                .distinct()
                .toList();
    }

    private static void demandOwn(ConfigKey key, int port, Map<String, Integer> chosen) {
        chosen.forEach((other, theirs) -> {
            if (theirs == port) {
                throw new PlatformException(
                        "%s is %d, which is the port of %s as well"
                                .formatted(key.key(), port, other));
            }
        });
    }

    private static void demandFree(String name, ConfigKey key, int port) {
        if (!isFree(port)) {
            throw new PlatformException(
                    "port %d of %s is in use by %s: end that, or set another %s"
                            .formatted(port, name, PortHolder.of(port), key.key()));
        }
    }

    /** Platforms of other data directories start elsewhere, so that they rarely meet. */
    private static int nextFree(Platform platform, Set<Integer> taken) {
        boolean standard = platform.data().equals(Path.of("/var/lib/space"));
        int hash = Math.floorMod(platform.data().hashCode(), 2000);
        int from = standard ? FIRST : FIRST + 600 + hash * 10;
        for (int port = from; port < LAST; port++) {
            if (!taken.contains(port) && isFree(port)) {
                return port;
            }
        }
        throw new PlatformException("no free port between " + from + " and " + LAST);
    }

    static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static Path file(Platform platform) {
        try {
            Files.createDirectories(platform.run());
        } catch (IOException e) {
            throw new PlatformException("cannot make " + platform.run(), e);
        }
        return platform.run().resolve("ports.json");
    }
}
