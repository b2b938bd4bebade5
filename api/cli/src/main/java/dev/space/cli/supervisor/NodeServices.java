package dev.space.cli.supervisor;

import dev.space.cli.config.ConfigKey;
import dev.space.cli.platform.Certificates;
import dev.space.cli.platform.NodePlace;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.cli.platform.Users.User;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Says how the processes of one node are started: node-manager, gateway and node-worker. */
final class NodeServices {

    private static final Duration MANAGER_READY_MAX = Duration.ofMinutes(1);

    private static final Duration GATEWAY_READY_MAX = Duration.ofMinutes(1);

    /** The first start makes start snapshots: a cold boot without hardware help takes its time. */
    private static final Duration NODE_READY_MAX = Duration.ofMinutes(10);

    private static final Duration STOP_MAX = Duration.ofSeconds(20);

    /** Of the machine's memory, what all its nodes together take for sandboxes. */
    private static final int MEMORY_NUMERATOR = 4;

    private static final int MEMORY_DENOMINATOR = 5;

    /** What node-worker is told as it was written. */
    private static final List<ConfigKey> AS_WRITTEN =
            List.of(
                    ConfigKey.ROLLING_DISK_SECONDS,
                    ConfigKey.ROLLING_FULL_SECONDS,
                    ConfigKey.ROLLING_FREEZE,
                    ConfigKey.ROLLING_KEEP,
                    ConfigKey.ROLLING_SNAPSHOTS_MAX,
                    ConfigKey.ROLLING_RESERVE_MIB,
                    ConfigKey.POOL_HOT,
                    ConfigKey.POOL_PREPARED,
                    ConfigKey.POOL_MEMORY_MIB);

    private final Layout layout;
    private final Platform platform;
    private final Path jdk;
    private final HttpClient http;
    private final String temporalTarget;
    private final String accelerator;

    NodeServices(
            Layout layout, Path jdk, HttpClient http, String temporalTarget, String accelerator) {
        this.layout = layout;
        this.platform = layout.platform();
        this.jdk = jdk;
        this.http = http;
        this.temporalTarget = temporalTarget;
        this.accelerator = accelerator;
    }

    /** In the order of their start. */
    List<Service> of(NodePlace place) {
        List<Service> services = new ArrayList<>();
        List<String> before = new ArrayList<>(List.of("control"));
        if (hasGateway()) {
            services.add(manager(place));
            services.add(gateway(place));
            before.add(place.manager());
        }
        services.add(worker(place, before));
        return services;
    }

    /** Fake VMs have no network that one could guard. */
    private boolean hasGateway() {
        return layout.config().text(ConfigKey.NODE_ENGINE).equals("qemu");
    }

    private int uidBase(NodePlace place) {
        return place.uidBase(layout.config().number(ConfigKey.NODE_SLOT_UID_BASE));
    }

    private Service manager(NodePlace place) {
        Path directory = place.managerDirectory();
        Path config =
                new ProcessConfig()
                        .set("space.node.manager-socket", place.managerSocket())
                        .set("space.node.slots", layout.config().text(ConfigKey.NODE_SLOTS))
                        .set("space.node.slot-uid-base", uidBase(place))
                        .set("space.node.data-dir", place.data())
                        .set("space.node.cache-dir", platform.cache())
                        .set("space.manager.instance", place.instance())
                        .set("space.manager.exits-dir", directory.resolve("exits"))
                        .set("space.manager.jail", platform.release().resolve("bin/space-jail"))
                        .set("space.node.accelerator", accelerator)
                        .set("space.manager.worker-user", place.user())
                        .set("space.manager.gateway-socket", place.managerGatewaySocket())
                        .set("space.manager.gateway-user", place.gatewayUser())
                        .write(file(place.manager()), layout.root());
        return new Service(
                place.manager(),
                layout.root(),
                List.of(),
                java(
                        "manager",
                        Compilation.FIRST_ONLY,
                        "dev.space.manager.Main",
                        "-Xmx48m",
                        config),
                Map.of("HOME", "/nonexistent"),
                directory,
                List.of(),
                Readiness.unixSocket(place.managerSocket()),
                MANAGER_READY_MAX,
                "TERM",
                STOP_MAX);
    }

    /** Nobody waits for it: without it sandboxes run, and reach nothing. */
    private Service gateway(NodePlace place) {
        User user = Layout.gateway(place);
        Path directory = place.gatewaySockets();
        String ports =
                layout.ports().byName().values().stream()
                        .sorted()
                        .map(String::valueOf)
                        .collect(Collectors.joining(","));
        Certificates.Pair authority = layout.certificates().gateway(place.gateway(), user);
        Path config =
                new VaultFiles(layout)
                        .gateway(new ProcessConfig(), user, place.gateway())
                        .set("space.gateway.ca-chain", authority.chain())
                        .set("space.gateway.ca-key", authority.key())
                        .set(
                                "space.gateway.credential-keyset",
                                layout.secrets().credentialKeyset(place.gateway(), user))
                        .set("space.gateway.extra-roots", extraRoots(place, user))
                        .set("space.gateway.control-socket", place.gatewaySocket())
                        .set("space.gateway.sockets-socket", place.managerGatewaySocket())
                        .set("space.gateway.worker-uid", Layout.worker(place).uid())
                        .set("space.gateway.http-port", layout.ports().of(place.gatewayPort()))
                        .set(
                                "space.gateway.resolvers",
                                layout.config().text(ConfigKey.EGRESS_RESOLVERS))
                        .set("space.gateway.denied", layout.config().text(ConfigKey.EGRESS_DENIED))
                        .set("space.gateway.platform-ports", ports)
                        .write(file(place.gateway()), user);
        return new Service(
                place.gateway(),
                user,
                List.of(),
                java(
                        "gateway",
                        Compilation.SECOND_FOR_BULK,
                        "dev.space.gateway.Main",
                        Compilation.GATEWAY_HEAP,
                        config),
                Map.of("HOME", "/nonexistent"),
                directory,
                List.of(place.manager()),
                Readiness.http(
                        http,
                        "http://127.0.0.1:"
                                + layout.ports().of(place.gatewayPort())
                                + "/health/ready"),
                GATEWAY_READY_MAX,
                "TERM",
                STOP_MAX);
    }

    private String extraRoots(NodePlace place, User user) {
        String file = layout.config().text(ConfigKey.EGRESS_EXTRA_ROOTS);
        return file.isEmpty()
                ? ""
                : layout.secrets().extraRoots(Path.of(file), place.gateway(), user).toString();
    }

    private Service worker(NodePlace place, List<String> after) {
        User user = Layout.worker(place);
        int base = uidBase(place);
        int slots = layout.config().number(ConfigKey.NODE_SLOTS);
        Path config = workerConfig(place, user).write(file(place.worker()), user);
        return new Service(
                place.worker(),
                user,
                IntStream.range(base, base + slots).boxed().toList(),
                java(
                        "node",
                        Compilation.SECOND_FOR_BULK,
                        "dev.space.node.Main",
                        "-Xmx512m",
                        config),
                Map.of("HOME", place.state().toString()),
                place.state(),
                after,
                Readiness.http(
                        http,
                        "http://127.0.0.1:"
                                + layout.ports().of(place.httpPort())
                                + "/health/ready"),
                NODE_READY_MAX,
                "TERM",
                STOP_MAX);
    }

    private ProcessConfig workerConfig(NodePlace place, User user) {
        ProcessConfig settings = new ProcessConfig();
        for (ConfigKey key : AS_WRITTEN) {
            settings.set(key.key(), layout.config().text(key));
        }
        if (hasGateway()) {
            settings.set("space.node.gateway-socket", place.gatewaySocket());
            settings.set("space.node.guest-root", layout.certificates().rootCertificate());
        }
        return layout.objectStore(settings, place.role(), user)
                .set("space.node.id", place.id(layout.config().text(ConfigKey.NODE_ID)))
                .set("space.node.engine", layout.config().text(ConfigKey.NODE_ENGINE))
                .set("space.node.accelerator", accelerator)
                .set("space.node.prepare", layout.startSnapshots())
                .set("space.node.slots", layout.config().text(ConfigKey.NODE_SLOTS))
                .set("space.node.memory-mib", memoryMib())
                .set(
                        "space.node.disk-reserve-mib",
                        layout.config().text(ConfigKey.NODE_DISK_RESERVE_MIB))
                .set("space.node.slot-uid-base", uidBase(place))
                .set("space.node.api-port", layout.ports().of(place.apiPort()))
                .set("space.node.http-port", layout.ports().of(place.httpPort()))
                .set("space.node.data-dir", place.data())
                .set("space.node.state-dir", place.state())
                .set("space.node.cache-dir", platform.cache())
                .set("space.node.template-names-dir", platform.templateNames())
                .set("space.node.reader", platform.release().resolve("bin/space-reader"))
                .set("space.node.manager-socket", place.managerSocket())
                .set("space.node.token-file", layout.secrets().nodeToken(place.role(), user))
                .set("space.control.url", "127.0.0.1:" + layout.ports().of("control"))
                .set("space.temporal.target", temporalTarget)
                .set(
                        "space.temporal.namespace",
                        layout.config().text(ConfigKey.TEMPORAL_NAMESPACE));
    }

    /** One node reckons by itself; several must not promise the same memory. */
    private long memoryMib() {
        int configured = layout.config().number(ConfigKey.NODE_MEMORY_MIB);
        if (configured != 0 || layout.nodes().size() == 1) {
            return configured;
        }
        try {
            for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
                if (line.startsWith("MemTotal:")) {
                    long mib = Long.parseLong(line.replaceAll("\\D", "")) >> 10;
                    return mib * MEMORY_NUMERATOR / MEMORY_DENOMINATOR / layout.nodes().size();
                }
            }
        } catch (IOException e) {
            throw new PlatformException("cannot read /proc/meminfo", e);
        }
        throw new PlatformException("/proc/meminfo does not tell the machine's memory");
    }

    private Path file(String service) {
        return platform.run().resolve(service + ".properties");
    }

    private List<String> java(
            String part, List<String> compilation, String main, String heap, Path config) {
        Path home = platform.release().resolve(part);
        return Services.java(
                jdk,
                compilation,
                List.of(
                        "-Xms16m",
                        heap,
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        home + "/*:" + home + "/lib/*",
                        main,
                        "--config",
                        config.toString()));
    }
}
