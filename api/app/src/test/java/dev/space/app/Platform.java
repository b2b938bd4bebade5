package dev.space.app;

import dev.space.contract.TaskQueues;
import dev.space.testkit.FakeBucket;
import dev.space.testkit.FakeNode;
import dev.space.testkit.Faults;
import io.temporal.client.WorkflowClient;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import io.temporal.worker.WorkerFactory;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** PostgreSQL, Temporal, one node without VMs, and as many control planes as asked for. */
final class Platform implements AutoCloseable {
    static final String KEY = "space_" + "0123456789".repeat(4);
    static final String OPERATOR_KEY = "operator_" + "abcdef0123".repeat(6);
    static final String TOKEN = "node-token-of-this-test";
    private static final Duration START_MAX = Duration.ofMinutes(2);

    final HttpClient http = HttpClient.newHttpClient();
    final List<Integer> ports = new ArrayList<>();
    final GatewayKeys gatewayKeys = new GatewayKeys();
    final FakeNodeServer node;
    final NodeLink link;
    final EmbeddedPostgres postgres;
    final WorkflowClient client;
    final int temporalPort = freePort();
    private final Path dir;
    private final Map<String, String> more;
    private final Map<String, Process> processes = new ConcurrentHashMap<>();
    private final Map<String, ProcessBuilder> started = new ConcurrentHashMap<>();
    private final WorkflowServiceStubs stubs;
    private final WorkerFactory workers;

    /** The workflow server's binary, or why there is none. */
    static Optional<Path> temporalBinary() {
        String path =
                System.getProperty(
                        "space.temporal.bin",
                        Optional.ofNullable(System.getenv("SPACE_TEMPORAL_BIN")).orElse(""));
        return path.isEmpty() ? Optional.empty() : Optional.of(Path.of(path));
    }

    Platform(Path dir, int controlPlanes) throws IOException, InterruptedException {
        this(dir, controlPlanes, Map.of());
    }

    /** With settings of the control planes besides the usual ones. */
    Platform(Path dir, int controlPlanes, Map<String, String> more)
            throws IOException, InterruptedException {
        this.dir = dir;
        this.more = more;
        postgres =
                EmbeddedPostgres.builder()
                        .setServerConfig("fsync", "on")
                        // So a killed server forgets commits, unless whoever commits asks for more.
                        .setServerConfig("synchronous_commit", "off")
                        .setServerConfig("max_connections", "100")
                        .start();
        startTemporal();
        secrets();
        for (int i = 0; i < controlPlanes; i++) {
            ports.add(startControl(i));
        }
        for (int i = 0; i < controlPlanes; i++) {
            awaitControl(i);
        }
        node = new FakeNodeServer(new FakeNode("fake-1", Faults.none(), new FakeBucket()));
        stubs =
                WorkflowServiceStubs.newServiceStubs(
                        WorkflowServiceStubsOptions.newBuilder()
                                .setTarget("127.0.0.1:" + temporalPort)
                                .build());
        client = WorkflowClient.newInstance(stubs);
        workers = WorkerFactory.newInstance(client);
        workers.newWorker(TaskQueues.node("fake-1")).registerActivitiesImplementations(node.node);
        workers.start();
        link = new NodeLink(ports, "fake-1", node.address(), NodeLink.SLOTS);
        link.register();
        link.renewing(true);
    }

    void awaitControl(int number) throws IOException {
        int port = ports.get(number);
        await("control plane ready", () -> get(port, "/health/ready").statusCode() == 200);
    }

    private void secrets() throws IOException {
        Files.writeString(dir.resolve("token"), TOKEN + "\n");
        Files.writeString(dir.resolve("key"), KEY + "\n");
        Files.writeString(dir.resolve("operator-key"), OPERATOR_KEY + "\n");
        Files.writeString(dir.resolve("credential-keyset"), gatewayKeys.publicKeyset());
        Files.writeString(dir.resolve("env-key"), Base64.getEncoder().encodeToString(new byte[32]));
    }

    private void startTemporal() throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                temporalBinary().orElseThrow().toString(),
                                "server",
                                "start-dev",
                                "--ip",
                                "127.0.0.1",
                                "--headless",
                                "--port",
                                String.valueOf(temporalPort),
                                "--http-port",
                                String.valueOf(freePort()),
                                "--metrics-port",
                                String.valueOf(freePort()),
                                "--db-filename",
                                dir.resolve("temporal.db").toString(),
                                "--log-level",
                                "error",
                                "--sqlite-pragma",
                                "journal_mode=WAL",
                                "--sqlite-pragma",
                                "synchronous=NORMAL"));
        for (String processor : List.of("transfer", "timer", "visibility")) {
            command.add("--dynamic-config-value");
            command.add("history." + processor + "ProcessorMaxPollRPS=5000");
        }
        command.add("--dynamic-config-value");
        command.add("system.forceSearchAttributesCacheRefreshOnRead=true");
        start("temporal", command, Map.of("HOME", dir.toString(), "USER", "test"));
    }

    /** Starts one more control plane and answers its port. */
    private int startControl(int number) throws IOException {
        int port = freePort();
        Properties config = new Properties();
        config.setProperty("quarkus.http.port", String.valueOf(port));
        config.setProperty("space.database.url", postgres.getJdbcUrl("postgres", "postgres"));
        config.setProperty("space.database.user", "postgres");
        config.setProperty("space.temporal.target", "127.0.0.1:" + temporalPort);
        config.setProperty("space.node.token-file", dir.resolve("token").toString());
        config.setProperty("space.control.env-key-file", dir.resolve("env-key").toString());
        config.setProperty(
                "space.control.credential-keyset-file",
                dir.resolve("credential-keyset").toString());
        config.setProperty("space.control.bootstrap-key-file", dir.resolve("key").toString());
        config.setProperty(
                "space.control.operator-key-file", dir.resolve("operator-key").toString());
        config.setProperty("space.control.reconcile-every", "1s");
        config.setProperty("space.control.resend-after", "2s");
        config.setProperty("space.node.lease", NodeLink.LEASE.toSeconds() + "s");
        config.putAll(more);
        Path file = dir.resolve("control-" + number + ".properties");
        try (var out = Files.newBufferedWriter(file)) {
            config.store(out, null);
        }
        List<String> command =
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx384m",
                        "-jar",
                        Path.of("target", "quarkus-app", "quarkus-run.jar")
                                .toAbsolutePath()
                                .toString(),
                        "--config",
                        file.toString());
        start("control-" + number, command, Map.of());
        return port;
    }

    private void start(String name, List<String> command, Map<String, String> environment)
            throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(
                                ProcessBuilder.Redirect.appendTo(
                                        dir.resolve(name + ".log").toFile()));
        builder.environment().putAll(environment);
        started.put(name, builder);
        processes.put(name, builder.start());
    }

    /** As kill -9; nothing of the process is left when this returns. */
    void kill(String name) throws InterruptedException {
        Process process = processes.get(name);
        if (process != null) {
            process.destroyForcibly();
            process.waitFor();
        }
    }

    /** The same command again, on the same ports and files. */
    void startAgain(String name) throws IOException {
        ProcessBuilder builder = started.get(name);
        if (builder == null) {
            throw new IllegalArgumentException("nothing was started as " + name);
        }
        processes.put(name, builder.start());
    }

    String log(String name) throws IOException {
        return Files.readString(dir.resolve(name + ".log"));
    }

    // ------------------------------------------------------------ calls

    HttpResponse<String> get(int port, String path) {
        return send(request(port, path).GET());
    }

    HttpResponse<String> get(String path) {
        return get(ports.getFirst(), path);
    }

    HttpResponse<String> post(String path, String body, String... headers) {
        return send(
                with(request(ports.getFirst(), path), headers)
                        .POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    HttpResponse<String> put(String path, byte[] body) {
        return send(
                request(ports.getFirst(), path).PUT(HttpRequest.BodyPublishers.ofByteArray(body)));
    }

    HttpResponse<String> patch(String path, String body) {
        return send(
                request(ports.getFirst(), path)
                        .method("PATCH", HttpRequest.BodyPublishers.ofString(body)));
    }

    HttpResponse<String> delete(String path, String... headers) {
        return send(with(request(ports.getFirst(), path), headers).DELETE());
    }

    HttpRequest.Builder request(int port, String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(Duration.ofSeconds(90))
                .header("Authorization", "Bearer " + KEY);
    }

    static HttpRequest.Builder with(HttpRequest.Builder request, String... headers) {
        for (int i = 0; i < headers.length; i += 2) {
            request.setHeader(headers[i], headers[i + 1]);
        }
        return request;
    }

    HttpResponse<String> send(HttpRequest.Builder request) {
        try {
            return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException failure) {
            throw new java.io.UncheckedIOException(failure);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(stop);
        }
    }

    interface Condition {
        boolean holds() throws IOException;
    }

    /** Waits for a condition with a deadline. */
    void await(String what, Condition condition) throws IOException {
        long until = System.nanoTime() + START_MAX.toNanos();
        while (true) {
            try {
                if (condition.holds()) {
                    return;
                }
            } catch (java.io.UncheckedIOException notYet) {
                if (System.nanoTime() > until) {
                    throw notYet;
                }
            }
            if (System.nanoTime() > until) {
                throw new AssertionError(what + " did not come true in " + START_MAX);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
        }
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException failure) {
            throw new java.io.UncheckedIOException(failure);
        }
    }

    @Override
    public void close() throws IOException {
        link.close();
        workers.shutdownNow();
        stubs.shutdownNow();
        node.close();
        processes.values().forEach(Process::destroyForcibly);
        postgres.close();
    }
}
