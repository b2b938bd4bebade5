package dev.space.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.space.bench.floor.ColdStart;
import dev.space.client.ApiException;
import dev.space.client.CreateSession;
import dev.space.client.RunProcess;
import dev.space.client.Session;
import dev.space.client.SpaceClient;
import dev.space.guest.channel.Token;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The platform that is measured: its API, and where its parts lie (docs/contracts.md). */
final class Target implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern HOT = Pattern.compile("(?m)^space_node_pool_hot (\\S+)");
    private static final Pattern TO_BE = Pattern.compile("(?m)^space_node_pool_target (\\S+)");
    private static final Duration POOL_MAX = Duration.ofMinutes(1);
    private static final int POOL_LOOK_MILLIS = 50;
    private static final Executor LATER =
            CompletableFuture.delayedExecutor(POOL_LOOK_MILLIS, TimeUnit.MILLISECONDS);
    private static final Map<String, String> LABELS = Map.of("made-by", "bench");

    private final SpaceClient client;
    private final JsonNode ports;
    private final Options options;
    private final Set<String> open = ConcurrentHashMap.newKeySet();
    private final Thread atEnd = new Thread(this::destroyOpen, "destroy-open");

    private Target(SpaceClient client, JsonNode ports, Options options) {
        this.client = client;
        this.ports = ports;
        this.options = options;
        Runtime.getRuntime().addShutdownHook(atEnd);
    }

    static Target open(Options options) throws IOException {
        Path data = options.data();
        JsonNode ports = JSON.readTree(data.resolve("run/ports.json").toFile()).path("byName");
        String key = Files.readString(data.resolve("secrets/api-key")).strip();
        URI api = URI.create("http://127.0.0.1:" + ports.path("control").asInt());
        return new Target(new SpaceClient(api, key), ports, options);
    }

    SpaceClient client() {
        return client;
    }

    int port(String name) {
        return ports.path(name).asInt();
    }

    Session create() {
        Session made =
                client.create(new CreateSession(options.template(), options.size(), LABELS, null));
        open.add(made.id());
        return made;
    }

    void destroy(String session) {
        client.destroy(session);
        open.remove(session);
    }

    /** A benchmark that is told to end leaves none of its sessions behind. */
    private void destroyOpen() {
        for (String session : open) {
            try {
                client.destroy(session);
            } catch (ApiException gone) {
                if (!gone.code().equals("GONE")) {
                    System.err.println("space: " + session + " stays: " + gone.getMessage());
                }
            }
        }
    }

    /** Runs a command that must succeed; its standard output. */
    String exec(String session, String... argv) {
        JsonNode answer = client.exec(session, RunProcess.of(List.of(argv)));
        if (answer.path("exitCode").asInt(-1) != 0) {
            throw new IllegalStateException(String.join(" ", argv) + " ended with " + answer);
        }
        return answer.path("stdout").asText();
    }

    /** What a process wrote to standard output until now. */
    String outputNow(String session, String process) {
        try (SpaceClient.Output output = client.output(session, process, "stdout", 0, "", false)) {
            return new String(output.bytes().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Bare restores of the start snapshot that this platform's sessions start from. */
    ColdStart coldStart() throws IOException {
        String digest = templateDigest();
        JsonNode template =
                JSON.readTree(
                        options.cache()
                                .resolve("templates")
                                .resolve(digest)
                                .resolve("template.json")
                                .toFile());
        Path bundle = options.cache().resolve("bundles").resolve(template.path("bundle").asText());
        Path snapshot = snapshot(digest);
        JsonNode meta = JSON.readTree(snapshot.resolve("meta.json").toFile());
        Token token = Token.of(HexFormat.of().parseHex(meta.path("token").asText()));
        Path directory =
                options.data().resolve("node").resolve("bench-" + ProcessHandle.current().pid());
        return new ColdStart(vmmArguments(), bundle, snapshot, token, directory);
    }

    /** The command line of a session's VMM, made for this and destroyed again. */
    private List<String> vmmArguments() throws IOException {
        Session session = create();
        try {
            return ColdStart.argumentsOf(vmmOf(session.id()));
        } finally {
            destroy(session.id());
        }
    }

    private static long vmmOf(String session) throws IOException {
        try (Stream<ProcessHandle> all = ProcessHandle.allProcesses()) {
            return all.mapToLong(ProcessHandle::pid)
                    .filter(pid -> isVmmOf(pid, session))
                    .findFirst()
                    .orElseThrow(() -> new IOException("no VMM of " + session + " runs here"));
        }
    }

    private static boolean isVmmOf(long pid, String session) {
        Path process = Path.of("/proc", Long.toString(pid));
        try {
            return Files.readString(process.resolve("comm")).startsWith("qemu")
                    && Files.readString(process.resolve("mountinfo"))
                            .contains("/sessions/" + session + "/");
        } catch (IOException e) {
            // It ended while it was looked at.
            return false;
        }
    }

    /** The digest that the template's name stands for on the platform that is measured. */
    private String templateDigest() throws IOException {
        String names = nodeSettings().getProperty("space.node.template-names-dir");
        if (names == null) {
            throw new IOException("this platform was started by another release; down, up");
        }
        return Files.readString(Path.of(names).resolve(options.template())).strip();
    }

    private Path snapshot(String digest) throws IOException {
        Path volumes = options.data().resolve("node/volumes");
        try (Stream<Path> all = Files.list(volumes)) {
            return all.map(v -> v.resolve("templates").resolve(digest).resolve(options.size()))
                    .filter(Files::isDirectory)
                    .findFirst()
                    .orElseThrow(() ->
                            new IOException(
                                    "no start snapshot of "
                                            + options.template()
                                            + ", size "
                                            + options.size()
                                            + " below "
                                            + volumes));
        }
    }

    /** Hot VMs that the platform is to keep of each start snapshot. */
    int poolSize() throws IOException {
        String hot = nodeSettings().getProperty("space.node.pool.hot", "0");
        // One of each is kept whatever the demand was.
        return hot.equals("auto") ? 1 : Integer.parseInt(hot);
    }

    /** The first node's configuration. */
    Properties nodeSettings() throws IOException {
        Properties node = new Properties();
        try (Reader in =
                Files.newBufferedReader(options.data().resolve("run/node-worker.properties"))) {
            node.load(in);
        }
        return node;
    }

    /** Returns when a hot VM waits; what is measured begins after that. */
    void awaitHot() throws IOException, InterruptedException {
        awaitPool(false);
    }

    /** Returns when as many hot VMs wait as there are to be, so that none is being made. */
    void awaitFullPool() throws IOException, InterruptedException {
        awaitPool(true);
    }

    private void awaitPool(boolean full) throws IOException, InterruptedException {
        long until = System.nanoTime() + POOL_MAX.toNanos();
        double there = 0;
        double enough = 1;
        while (System.nanoTime() < until) {
            String figures = Phases.scrape(port("node-http"));
            there = figure(HOT, figures);
            enough = full ? Math.max(1, figure(TO_BE, figures)) : 1;
            if (there >= enough) {
                return;
            }
            CompletableFuture.runAsync(() -> {}, LATER).join();
        }
        throw new IllegalStateException(
                "%.0f hot VMs were to wait, after %d s there are %.0f"
                        .formatted(enough, POOL_MAX.toSeconds(), there));
    }

    private static double figure(Pattern name, String figures) {
        Matcher figure = name.matcher(figures);
        return figure.find() ? Double.parseDouble(figure.group(1)) : 0;
    }

    @Override
    public void close() {
        client.close();
    }
}
