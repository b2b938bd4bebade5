package dev.space.cli.supervisor;

import dev.space.cli.config.ConfigKey;
import dev.space.cli.platform.NodePlace;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.Ports;
import dev.space.cli.platform.Secrets;
import dev.space.cli.platform.Users.User;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Says how each process of the embedded default is started (docs/contracts.md, Processes; the
 * servers' options are argued in docs/operations.md).
 */
final class Services {

    private static final Duration SERVER_READY_MAX = Duration.ofMinutes(1);
    private static final Duration JAVA_READY_MAX = Duration.ofMinutes(2);

    private static final Duration STOP_MAX = Duration.ofSeconds(20);

    private final Layout layout;
    private final Platform platform;
    private final Ports ports;
    private final Path jdk;
    private final HttpClient http = HttpClient.newHttpClient();
    private final NodeServices nodes;

    /**
     * @param accelerator what the nodes' guests run by
     */
    Services(Layout layout, Path jdk, String accelerator) {
        this.layout = layout;
        this.platform = layout.platform();
        this.ports = layout.ports();
        this.jdk = jdk;
        this.nodes = new NodeServices(layout, jdk, http, temporalTarget(), accelerator);
    }

    /** The names of all that there can be, in the order of their start. */
    static List<String> names(Platform platform) {
        List<String> names = new ArrayList<>(List.of("postgres", "temporal", "objects", "control"));
        NodePlace.all(platform).forEach(place -> names.addAll(place.services()));
        return names;
    }

    List<Service> of(NodePlace place) {
        return nodes.of(place);
    }

    /** All but the nodes' own, in the order of their start. */
    List<Service> shared() {
        List<Service> all = new ArrayList<>();
        List<String> servers = new ArrayList<>();
        if (layout.embeddedPostgres()) {
            all.add(postgres());
            servers.add("postgres");
        }
        if (layout.embeddedTemporal()) {
            all.add(temporal());
            servers.add("temporal");
        }
        if (layout.embeddedObjects()) {
            all.add(objects());
        }
        all.add(control(servers));
        return all;
    }

    private Service postgres() {
        PostgresCluster cluster = layout.cluster();
        return new Service(
                "postgres",
                layout.postgres(),
                List.of(),
                cluster.argv(platform.sockets().resolve("postgres")),
                Map.of(),
                cluster.data(),
                List.of(),
                cluster::whyNot,
                SERVER_READY_MAX,
                "INT",
                STOP_MAX);
    }

    private Service temporal() {
        Path directory = platform.data().resolve("temporal");
        // The schema is applied to a new file only: each server version has a file of its own.
        String version = platform.temporal().getFileName().toString();
        String file = version.substring(0, Math.min(version.length(), 24)) + ".db";
        int http = ports.of("temporal-http");
        List<String> argv =
                new ArrayList<>(
                        List.of(
                                platform.temporal().resolve("temporal").toString(),
                                "server",
                                "start-dev",
                                "--ip=127.0.0.1",
                                "--log-level=error",
                                "--db-filename=" + directory.resolve(file),
                                "--port=" + ports.of("temporal"),
                                "--ui-port=" + ports.of("temporal-ui"),
                                "--http-port=" + http,
                                "--metrics-port=" + ports.of("temporal-metrics"),
                                "--namespace=" + layout.config().text(ConfigKey.TEMPORAL_NAMESPACE),
                                "--sqlite-pragma=journal_mode=WAL",
                                "--sqlite-pragma=synchronous=NORMAL"));
        for (String poller : List.of("transfer", "timer", "visibility")) {
            argv.add(dynamic("history." + poller + "ProcessorMaxPollRPS=5000"));
        }
        argv.add(dynamic("frontend.httpAllowedHosts=[\"127.0.0.1:" + http + "\"]"));
        argv.add(dynamic("system.forceSearchAttributesCacheRefreshOnRead=true"));
        String namespace = layout.config().text(ConfigKey.TEMPORAL_NAMESPACE);
        return new Service(
                "temporal",
                layout.temporal(),
                List.of(),
                argv,
                Map.of("HOME", directory.toString(), "USER", layout.temporal().name()),
                directory,
                List.of(),
                Readiness.http(
                        this.http, "http://127.0.0.1:" + http + "/api/v1/namespaces/" + namespace),
                SERVER_READY_MAX,
                "TERM",
                STOP_MAX);
    }

    private static String dynamic(String setting) {
        return "--dynamic-config-value=" + setting;
    }

    /** Nobody waits for it: the first suspend finds it, or is told that it is away. */
    private Service objects() {
        User user = layout.objects();
        Path data = platform.data().resolve("objects");
        Path state = platform.data().resolve("objects-state");
        Path config =
                new ProcessConfig()
                        .set("space.objects.port", ports.of("objects"))
                        .set("space.objects.data-dir", data)
                        .set("space.objects.access-key", layout.accessKey())
                        .set(
                                "space.objects.secret-key-file",
                                layout.secrets().objectStoreKey("objects", user))
                        .write(platform.run().resolve("objects.properties"), user);
        return new Service(
                "objects",
                user,
                List.of(),
                List.of(
                        jdk.resolve("bin/java").toString(),
                        "-XX:+UseSerialGC",
                        "-Xms16m",
                        "-Xmx256m",
                        "-XX:+ExitOnOutOfMemoryError",
                        // Recorded at the end of the first run: later starts take a third of
                        // the time from those that a user waits for.
                        "-XX:+AutoCreateSharedArchive",
                        "-XX:SharedArchiveFile=" + state.resolve("objects.jsa"),
                        "-jar",
                        platform.release().resolve("objects/space-objects.jar").toString(),
                        "--config",
                        config.toString()),
                Map.of("HOME", state.toString()),
                state,
                List.of(),
                Readiness.http(http, "http://127.0.0.1:" + ports.of("objects") + "/healthz"),
                SERVER_READY_MAX,
                "TERM",
                STOP_MAX);
    }

    private Service control(List<String> after) {
        User user = layout.control();
        Secrets secrets = layout.secrets();
        Path config = controlConfig(user, secrets);
        List<String> argv =
                java(
                        Compilation.FIRST_ONLY,
                        List.of(
                                "-Xms64m",
                                "-Xmx512m",
                                "-jar",
                                platform.release().resolve("control/quarkus-run.jar").toString()));
        return new Service(
                "control",
                user,
                List.of(),
                argv,
                Map.of(
                        "SMALLRYE_CONFIG_LOCATIONS",
                        config.toUri().toString(),
                        "HOME",
                        platform.data().resolve("control").toString()),
                platform.data().resolve("control"),
                after,
                Readiness.http(http, "http://127.0.0.1:" + ports.of("control") + "/health/ready"),
                JAVA_READY_MAX,
                "TERM",
                STOP_MAX);
    }

    private Path controlConfig(User user, Secrets secrets) {
        String url = layout.config().text(ConfigKey.DATABASE_URL);
        String password = layout.config().text(ConfigKey.DATABASE_PASSWORD_FILE);
        ProcessConfig settings = layout.objectStore(new ProcessConfig(), "control", user);
        return new VaultFiles(layout)
                .control(settings, user)
                .set("quarkus.http.host", "127.0.0.1")
                .set("quarkus.http.port", ports.of("control"))
                .set("space.database.url", url.isEmpty() ? layout.cluster().url() : url)
                .set("space.database.user", layout.config().text(ConfigKey.DATABASE_USER))
                .set(
                        "space.database.password-file",
                        password.isEmpty() ? secrets.databasePassword(user) : password)
                .set("space.temporal.target", temporalTarget())
                .set("space.temporal.namespace", layout.config().text(ConfigKey.TEMPORAL_NAMESPACE))
                .set("space.node.token-file", secrets.nodeToken("control", user))
                .set(
                        ConfigKey.SNAPSHOTS_PER_SESSION.key(),
                        layout.config().text(ConfigKey.SNAPSHOTS_PER_SESSION))
                .set(
                        ConfigKey.SNAPSHOTS_PER_PROJECT.key(),
                        layout.config().text(ConfigKey.SNAPSHOTS_PER_PROJECT))
                .set("space.control.env-key-file", secrets.envKey(user))
                .set("space.control.credential-keyset-file", secrets.credentialPublicKeyset(user))
                .set(
                        "space.control.workflows-ahead",
                        layout.config().text(ConfigKey.WORKFLOWS_AHEAD))
                .set("space.control.bootstrap-key-file", secrets.apiKeyFor("control", user))
                .set("space.control.operator-key-file", secrets.operatorKeyFor("control", user))
                .write(platform.run().resolve("control.properties"), user);
    }

    private String temporalTarget() {
        String outside = layout.config().text(ConfigKey.TEMPORAL_TARGET);
        return outside.isEmpty() ? "127.0.0.1:" + ports.of("temporal") : outside;
    }

    private List<String> java(List<String> compilation, List<String> more) {
        return java(jdk, compilation, more);
    }

    static List<String> java(Path jdk, List<String> compilation, List<String> more) {
        List<String> argv = new ArrayList<>();
        argv.add(jdk.resolve("bin/java").toString());
        argv.add("-XX:+UseSerialGC");
        argv.add("-XX:+ExitOnOutOfMemoryError");
        argv.addAll(compilation);
        argv.addAll(more);
        return List.copyOf(argv);
    }
}
