package dev.space.vault;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A real server with raft storage, set up as vault-policies/README.md says. It can be sealed,
 * killed and started again.
 */
public final class OpenBao implements AutoCloseable {

    /** What it is mounted at. */
    public static final String MOUNT = "space";

    /** What all paths begin with. */
    public static final String PREFIX = "credentials";

    private static final Duration READY_MAX = Duration.ofSeconds(60);
    private static final Duration REQUEST_MAX = Duration.ofSeconds(60);

    private final Path binary;
    private final Path directory;
    private final Path policies;
    private final int port;
    private final HttpClient http = HttpClient.newHttpClient();
    private @Nullable Process process;
    private String key = "";
    private String root = "";

    private OpenBao(Path binary, Path directory, Path policies, int port) {
        this.binary = binary;
        this.directory = directory;
        this.policies = policies;
        this.port = port;
    }

    /** The binary, when the environment names one. */
    public static Optional<Path> binary() {
        return Optional.ofNullable(System.getenv("SPACE_BAO_BIN"))
                .filter(name -> !name.isEmpty())
                .map(Path::of)
                .filter(Files::isExecutable);
    }

    /** A server that is ready, with both roles. */
    public static OpenBao start(Path binary, Path directory, Path policies) throws Exception {
        int port = freePort();
        OpenBao server = new OpenBao(binary, directory, policies, port);
        Files.createDirectories(directory.resolve("raft"));
        String config =
                """
                storage "raft" {
                  path = "%s/raft"
                  node_id = "one"
                }
                listener "tcp" {
                  address = "127.0.0.1:%d"
                  tls_disable = true
                }
                api_addr = "http://127.0.0.1:%d"
                cluster_addr = "http://127.0.0.1:%d"
                """
                        .formatted(directory, port, port, freePort());
        Files.writeString(directory.resolve("bao.hcl"), config);
        try {
            server.run();
            server.initialise();
            server.setUp();
        } catch (Exception | AssertionError failed) {
            server.close();
            throw failed;
        }
        return server;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Its port on loopback. */
    public int port() {
        return port;
    }

    /** Starts the process; a server that was set up before is sealed then. */
    public void run() throws Exception {
        process =
                new ProcessBuilder(binary.toString(), "server", "-config=" + directory + "/bao.hcl")
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("bao.log").toFile())
                        .start();
        await("/v1/sys/health", "\"initialized\":");
    }

    /** Ends it as a crash does. */
    public void kill() throws InterruptedException {
        Process running = process;
        process = null;
        if (running != null) {
            running.destroyForcibly();
            if (!running.waitFor(20, TimeUnit.SECONDS)) {
                throw new AssertionError("the server does not end");
            }
        }
    }

    private void initialise() throws Exception {
        String answer = call("PUT", "/v1/sys/init", "{\"secret_shares\":1,\"secret_threshold\":1}");
        key = field(answer, "keys_base64\":\\[\"([^\"]+)");
        root = field(answer, "root_token\":\"([^\"]+)");
        unseal();
    }

    /** Opens it and waits until it serves. */
    public void unseal() throws Exception {
        String _ = call("PUT", "/v1/sys/unseal", "{\"key\":\"" + key + "\"}");
        await("/v1/sys/health", "\"standby\":false");
    }

    /** Closes it; it answers 503 from then on. */
    public void seal() throws Exception {
        String _ = call("PUT", "/v1/sys/seal", "");
    }

    private void setUp() throws Exception {
        await("/v1/sys/mounts", "sys/");
        String _ =
                call(
                        "POST",
                        "/v1/sys/mounts/" + MOUNT,
                        "{\"type\":\"kv\",\"options\":{\"version\":\"2\"}}");
        String _ = call("POST", "/v1/sys/auth/approle", "{\"type\":\"approle\"}");
        for (String role : new String[] {"space-control", "space-gateway"}) {
            policy(role, Files.readString(policies.resolve(role + ".hcl")));
            role(role, "1h", "24h");
        }
        // The engine makes its storage in the background.
        await("/v1/" + MOUNT + "/config", "max_versions");
    }

    /** Sets a policy. */
    public void policy(String name, String hcl) throws Exception {
        String text = hcl.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
        String _ = call("PUT", "/v1/sys/policies/acl/" + name, "{\"policy\":\"" + text + "\"}");
    }

    /** Makes a role, or changes how long its tokens live. */
    public void role(String name, String ttl, String longest) throws Exception {
        String _ =
                call(
                        "POST",
                        "/v1/auth/approle/role/" + name,
                        ("{\"token_policies\":[\"%s\"],\"token_no_default_policy\":true,"
                                        + "\"token_ttl\":\"%s\",\"token_max_ttl\":\"%s\"}")
                                .formatted(name, ttl, longest));
    }

    /** Every token of every role ends at once. */
    public void revokeTokens() throws Exception {
        String _ = call("PUT", "/v1/sys/leases/revoke-prefix/auth/approle/login", "{}");
    }

    /** Settings for a role, with files of ids in the server's directory. */
    public VaultSettings settings(String role, int atPort) throws Exception {
        Path roleId = directory.resolve(role + ".role-id");
        Path secretId = directory.resolve(role + ".secret-id");
        String path = "/v1/auth/approle/role/" + role;
        write(roleId, field(call("GET", path + "/role-id", ""), "role_id\":\"([^\"]+)"));
        write(secretId, field(call("POST", path + "/secret-id", "{}"), "secret_id\":\"([^\"]+)"));
        return new VaultSettings(
                URI.create("http://127.0.0.1:" + atPort),
                MOUNT,
                Optional.empty(),
                roleId,
                secretId);
    }

    private static void write(Path file, String text) throws IOException {
        Files.deleteIfExists(file);
        var owner =
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        Files.writeString(Files.createFile(file, owner), text + "\n");
    }

    private static String field(String answer, String pattern) {
        Matcher found = Pattern.compile(pattern).matcher(answer);
        if (!found.find()) {
            throw new AssertionError("no " + pattern + " in the server's answer");
        }
        return found.group(1);
    }

    /** A call with the root token: what the server really has. */
    public String call(String method, String path, String body) throws Exception {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                        .timeout(REQUEST_MAX)
                        .method(method, HttpRequest.BodyPublishers.ofString(body));
        if (!root.isEmpty()) {
            request.header("X-Vault-Token", root);
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString()).body();
    }

    private void await(String path, String expected) throws Exception {
        long end = System.nanoTime() + READY_MAX.toNanos();
        String last = "";
        while (System.nanoTime() - end < 0) {
            try {
                last = call("GET", path, "");
                if (last.contains(expected)) {
                    return;
                }
            } catch (IOException notYet) {
                last = notYet.toString();
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
        throw new AssertionError("the server does not say " + expected + ": " + last);
    }

    @Override
    public void close() {
        try {
            kill();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
        http.shutdownNow();
    }
}
