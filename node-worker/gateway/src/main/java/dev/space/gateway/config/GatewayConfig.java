package dev.space.gateway.config;

import dev.space.model.NearestKey;
import dev.space.model.egress.Cidr;
import dev.space.model.egress.Ipv4;
import dev.space.vault.VaultSettings;
import java.io.IOException;
import java.io.Reader;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The configuration, from one properties file that the supervisor writes. Unknown keys stop the
 * start.
 *
 * @param controlSocket where node-worker calls; its directory is there already
 * @param socketsSocket where node-manager issues slots' sockets
 * @param workerUid the one uid that may call
 * @param httpPort health and metrics, on loopback
 * @param resolvers DNS servers that are asked, in this order; empty takes the machine's own
 * @param denied what no sandbox reaches, besides what none ever does
 * @param platformPorts ports of this machine that no sandbox reaches, even where a rule names it
 * @param connections of all sandboxes together
 * @param threads that move bytes
 * @param tls what is needed to look into TLS
 * @param vault where credentials are that are not sealed
 */
public record GatewayConfig(
        Path controlSocket,
        Path socketsSocket,
        int workerUid,
        int httpPort,
        List<InetSocketAddress> resolvers,
        List<Cidr> denied,
        Set<Integer> platformPorts,
        int connections,
        int threads,
        TlsFiles tls,
        Optional<VaultSettings> vault) {

    private static final String PREFIX = "space.gateway.";
    private static final Path SYSTEM_RESOLVERS = Path.of("/etc/resolv.conf");
    private static final int DNS_PORT = 53;
    private static final int PORT_MAX = 65_535;
    private static final Set<String> KEYS =
            new TreeSet<>(
                    Set.of(
                            PREFIX + "control-socket",
                            PREFIX + "sockets-socket",
                            PREFIX + "worker-uid",
                            PREFIX + "http-port",
                            PREFIX + "resolvers",
                            PREFIX + "denied",
                            PREFIX + "platform-ports",
                            PREFIX + "connections",
                            PREFIX + "threads",
                            PREFIX + "ca-chain",
                            PREFIX + "ca-key",
                            PREFIX + "credential-keyset",
                            PREFIX + "extra-roots",
                            PREFIX + "vault-address",
                            PREFIX + "vault-mount",
                            PREFIX + "vault-ca-file",
                            PREFIX + "vault-role-id-file",
                            PREFIX + "vault-secret-id-file"));

    /** Makes lists that cannot change. */
    public GatewayConfig {
        resolvers = List.copyOf(resolvers);
        denied = List.copyOf(denied);
        platformPorts = Set.copyOf(platformPorts);
    }

    /** Fails with a sentence for the operator when a key is unknown or a value is not possible. */
    public static GatewayConfig load(Path file) throws IOException {
        Properties p = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            p.load(reader);
        }
        for (String key : p.stringPropertyNames()) {
            if (!KEYS.contains(key)) {
                throw new IllegalArgumentException(NearestKey.complaint(key, KEYS));
            }
        }
        List<InetSocketAddress> resolvers = list(p, "resolvers", GatewayConfig::resolver);
        return new GatewayConfig(
                path(p, "control-socket"),
                path(p, "sockets-socket"),
                number(p, "worker-uid", null, 0, Integer.MAX_VALUE),
                number(p, "http-port", "0", 0, PORT_MAX),
                resolvers.isEmpty() ? systemResolvers(SYSTEM_RESOLVERS) : resolvers,
                list(p, "denied", Cidr::parse),
                Set.copyOf(list(p, "platform-ports", GatewayConfig::port)),
                number(p, "connections", "4096", 1, 1_000_000),
                number(p, "threads", "2", 1, 64),
                new TlsFiles(
                        file(p, "ca-chain"),
                        file(p, "ca-key"),
                        file(p, "credential-keyset"),
                        file(p, "extra-roots")),
                vault(p));
    }

    private static Optional<VaultSettings> vault(Properties p) {
        String address = p.getProperty(PREFIX + "vault-address", "").strip();
        if (address.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    new VaultSettings(
                            URI.create(address),
                            text(p, "vault-mount", "space"),
                            file(p, "vault-ca-file"),
                            path(p, "vault-role-id-file"),
                            path(p, "vault-secret-id-file")));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(PREFIX + "vault-…: " + e.getMessage(), e);
        }
    }

    /** The IPv4 servers of a resolv.conf. */
    static List<InetSocketAddress> systemResolvers(Path file) throws IOException {
        List<InetSocketAddress> servers =
                Files.readAllLines(file).stream()
                        .map(line -> line.strip().split("\\s+"))
                        .filter(words -> words.length > 1 && words[0].equals("nameserver"))
                        .map(words -> words[1])
                        .filter(address -> !address.contains(":"))
                        .map(GatewayConfig::resolver)
                        .toList();
        if (servers.isEmpty()) {
            throw new IllegalArgumentException(
                    file + " names no IPv4 DNS server; set " + PREFIX + "resolvers");
        }
        return servers;
    }

    private static InetSocketAddress resolver(String text) {
        int colon = text.indexOf(':');
        String address = colon < 0 ? text : text.substring(0, colon);
        int port = colon < 0 ? DNS_PORT : port(text.substring(colon + 1));
        return new InetSocketAddress(Ipv4.text(Ipv4.parse(address)), port);
    }

    private static int port(String text) {
        return parsed(text, PREFIX + "platform-ports", 1, PORT_MAX);
    }

    private static <T> List<T> list(Properties p, String name, Function<String, T> read) {
        String value = p.getProperty(PREFIX + name, "");
        try {
            return Stream.of(value.split(",", -1))
                    .map(String::strip)
                    .filter(s -> !s.isEmpty())
                    .map(read)
                    .toList();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(PREFIX + name + ": " + e.getMessage(), e);
        }
    }

    private static Path path(Properties p, String name) {
        Path path = Path.of(text(p, name, null));
        if (!path.isAbsolute() || !path.equals(path.normalize())) {
            throw new IllegalArgumentException(
                    PREFIX + name + " must be an absolute path without ..");
        }
        return path;
    }

    /** A path that need not be there. */
    private static Optional<Path> file(Properties p, String name) {
        boolean none = p.getProperty(PREFIX + name, "").isBlank();
        return none ? Optional.empty() : Optional.of(path(p, name));
    }

    private static int number(
            Properties p, String name, @Nullable String otherwise, int min, int max) {
        return parsed(text(p, name, otherwise), PREFIX + name, min, max);
    }

    private static int parsed(String text, String key, int min, int max) {
        try {
            int value = Integer.parseInt(text);
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(key + " must be a number", e);
        }
        throw new IllegalArgumentException(key + " must be " + min + " to " + max);
    }

    private static String text(Properties p, String name, @Nullable String otherwise) {
        String value = p.getProperty(PREFIX + name, otherwise);
        if (value == null || value.isBlank()) {
            throw new IllegalArgumentException(PREFIX + name + " is missing");
        }
        return value.strip();
    }
}
