package dev.space.verification.live;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A platform of the test's own, by the real command: own data directory, own ports, own slot uids,
 * and the small template in the smallest size.
 */
final class Platform implements AutoCloseable {

    static final String TEMPLATE = "minimal";
    static final String SIZE = "xs";
    static final List<String> SERVICES =
            List.of(
                    "postgres",
                    "temporal",
                    "objects",
                    "control",
                    "node-manager",
                    "gateway",
                    "node-worker");

    private static final Duration UP_MAX = Duration.ofMinutes(15);
    private static final Duration DOWN_MAX = Duration.ofMinutes(5);
    private static final Duration PROCESS_MAX = Duration.ofMinutes(2);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path home;
    private final Path data;
    private final int uidBase;
    private final int slots;

    private Platform(Path home, Path data, int uidBase, int slots) {
        this.home = home;
        this.data = data;
        this.uidBase = uidBase;
        this.slots = slots;
    }

    /** Why no platform can be started here; empty when one can. */
    static Optional<String> whyNot() {
        try {
            if (!Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0)) {
                return Optional.of("a platform needs root: it makes users, mounts, namespaces");
            }
        } catch (IOException e) {
            return Optional.of("this is no Linux with /proc");
        }
        return Stream.of("/usr/bin", "/usr/local/bin")
                        .anyMatch(d -> Files.isExecutable(Path.of(d, "qemu-system-x86_64")))
                ? Optional.empty()
                : Optional.of("QEMU is not installed (qemu-system-x86)");
    }

    /** Starts one without snapshots of the node's own, and waits until it is ready. */
    static Platform start(Path home, int slots) throws IOException {
        return start(home, slots, "rolling: {disk-seconds: 0, full-seconds: 0}");
    }

    /**
     * Starts one and waits until it is ready.
     *
     * @param extra one more key of {@code space.node}, in YAML
     */
    static Platform start(Path home, int slots, String extra) throws IOException {
        return start(home, slots, extra, 1);
    }

    /** Starts one with several nodes and waits until it is ready. */
    static Platform start(Path home, int slots, String extra, int nodes) throws IOException {
        Path data = Files.createTempDirectory(Path.of("/var/tmp"), "space-it.");
        Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxr-xr-x"));
        int uidBase = 300_000 + (int) (ProcessHandle.current().pid() % 1000) * 100;
        Platform platform = new Platform(home, data, uidBase, slots);
        Files.writeString(data.resolve("space.yaml"), platform.configuration(extra, nodes));
        boolean up = false;
        try {
            platform.space("up", UP_MAX);
            up = true;
            return platform;
        } finally {
            if (!up) {
                platform.close();
            }
        }
    }

    /** VMs that wait for sessions are of PoolIT; elsewhere they would look like what is left. */
    private String configuration(String more, int nodes) {
        String extra = more.contains("pool:") ? more : more + "\n    pool: {hot: 0, prepared: 0}";
        return """
        space:
          nodes: %d
          node:
            id: it
            prepare: %s:%s
            slots: %d
            slot-uid-base: %d
            volume-gib: 8
            %s
        """
                .formatted(nodes, TEMPLATE, SIZE, slots, uidBase, extra);
    }

    Path data() {
        return data;
    }

    /** The tag in the names of what node-manager makes (docs/contracts.md). */
    String instance() {
        return dev.space.cli.platform.Platform.of(Map.of("SPACE_DATA", data.toString()), null, null)
                .instance();
    }

    Path sockets() {
        return Path.of("/run/space").resolve(instance());
    }

    int uidBase() {
        return uidBase;
    }

    int slots() {
        return slots;
    }

    int port(String name) throws IOException {
        return JSON.readTree(data.resolve("run/ports.json").toFile())
                .path("byName")
                .path(name)
                .asInt();
    }

    Rest rest() throws IOException {
        String key = Files.readString(data.resolve("secrets/api-key")).strip();
        return new Rest("http://127.0.0.1:" + port("control"), key);
    }

    /** Runs a `space` command, words by space; fails with its output when it fails. */
    String space(String command, Duration max) throws IOException {
        Path log = data.resolve("space-" + command.replace(' ', '-') + ".log");
        Process process =
                command(command.split(" ", -1))
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start();
        process.onExit().completeOnTimeout(process, max.toSeconds(), TimeUnit.SECONDS).join();
        if (process.isAlive()) {
            process.destroyForcibly();
            throw new IOException("`space " + command + "` takes longer than " + max);
        }
        String output = Files.readString(log);
        if (process.exitValue() != 0) {
            throw new IOException(
                    "`space %s` ended with %d: %s".formatted(command, process.exitValue(), output));
        }
        return output;
    }

    /** A `space` command on this platform, to be started. */
    ProcessBuilder command(String... arguments) {
        List<String> argv = new ArrayList<>(List.of(home.resolve("space").toString()));
        argv.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(argv);
        builder.environment().put("SPACE_DATA", data.toString());
        builder.environment().put("SPACE_CONFIG", data.resolve("space.yaml").toString());
        builder.environment().put("SPACE_TEMPLATES", TEMPLATE);
        builder.environment().remove("SPACE_API_URL");
        builder.environment().remove("SPACE_API_KEY");
        return builder;
    }

    /** The supervisor's pid, or the pid that it last started for that service. */
    long pid(String service) throws IOException {
        String file = service.equals("supervisor") ? service : "service-" + service;
        JsonNode entry = JSON.readTree(data.resolve("run/" + file + ".json").toFile());
        return entry.path("pid").asLong();
    }

    /** SIGKILL, and waits until the process is gone; its restart is the supervisor's business. */
    void kill(String service) throws Exception {
        killProcess(pid(service));
    }

    static void killProcess(long pid) throws Exception {
        Optional<ProcessHandle> process = ProcessHandle.of(pid);
        process.ifPresent(ProcessHandle::destroyForcibly);
        Await.until("the end of process " + pid, PROCESS_MAX, () -> !isRunning(pid));
    }

    /** A zombie is gone: it holds nothing. */
    static boolean isRunning(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
        } catch (IOException e) {
            return false;
        }
    }

    /** Waits until the supervisor says that every process is ready again. */
    void awaitReady() throws Exception {
        Await.until(
                "all processes ready",
                PROCESS_MAX,
                () -> {
                    JsonNode state = JSON.readTree(data.resolve("run/supervisor.json").toFile());
                    for (JsonNode service : state.path("services")) {
                        if (!service.path("phase").asText().equals("READY")
                                || !isRunning(service.path("pid").asLong())) {
                            return false;
                        }
                    }
                    return state.path("phase").asText().equals("READY");
                });
    }

    /** The node forgets its copies: what is restored now can only come from the object store. */
    void removeCopies(String session) throws IOException {
        List<Path> found;
        try (Stream<Path> all = Files.walk(data, 8)) {
            found = all.filter(p -> p.endsWith(Path.of(session, "snapshots"))).toList();
        }
        if (found.isEmpty()) {
            throw new IOException("no copies of " + session);
        }
        for (Path copies : found) {
            Process rm = new ProcessBuilder("rm", "-rf", copies.toString()).start();
            if (rm.onExit().join().exitValue() != 0) {
                throw new IOException("cannot remove " + copies);
            }
        }
    }

    /** The VMM that runs a session's VM, known by the files in its mount namespace. */
    long vmm(String session) throws IOException {
        for (long pid : Census.pids()) {
            if (isVmm(pid, session)) {
                return pid;
            }
        }
        throw new IOException("no VMM of " + session);
    }

    private static boolean isVmm(long pid, String session) {
        try {
            return Files.readString(Path.of("/proc/" + pid + "/comm")).startsWith("qemu")
                    && Files.readString(Path.of("/proc/" + pid + "/mountinfo"))
                            .contains("/sessions/" + session + "/");
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() throws IOException {
        try {
            space("down", DOWN_MAX);
        } catch (IOException failure) {
            space("down --force", DOWN_MAX);
            throw failure;
        }
        Process removal =
                new ProcessBuilder("rm", "-rf", "--one-file-system", data.toString()).start();
        removal.onExit().join();
    }
}
