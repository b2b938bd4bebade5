package dev.space.gateway.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.certificates.Authority;
import dev.space.gateway.config.TlsFiles;
import dev.space.model.credential.Injection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Real clients in a sandbox's namespace use a credential that they never see: everything that any
 * of them prints is searched for it.
 */
@Timeout(180)
final class InterceptIT {

    private static final String NAME = "api.example";
    private static final String SECRET = "canary-IT-5up3r-s3cret-value";

    @TempDir Path directory;

    private final String tag = "sit" + ProcessHandle.current().pid();
    private final List<String> said = new ArrayList<>();

    @SuppressWarnings("NullAway.Init") // set before every test
    private NamespaceRig rig;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Origin origin;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Sealer sealer;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Path root;

    @BeforeEach
    void start() throws Exception {
        Assumptions.assumeTrue(
                Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0),
                "needs root: network namespaces");
        for (String tool : List.of("ip", "nft", "curl")) {
            Assumptions.assumeTrue(has(tool), "needs " + tool);
        }
        sealer = new Sealer();
        Authority installation = Authority.root(Instant.now());
        Authority gateway = installation.gateway("node-1", Instant.now());
        Authority outside = Authority.root(Instant.now());
        root = Files.writeString(directory.resolve("root.crt"), installation.chainPem());
        rig =
                new NamespaceRig(
                        directory,
                        tag,
                        new TlsFiles(
                                write("ca.crt", gateway.chainPem()),
                                write("ca.key", gateway.keyPem()),
                                Optional.of(sealer.keyset(directory.resolve("keyset"))),
                                write("outside.crt", outside.chainPem())));
        long pid = ProcessHandle.current().pid();
        String address = "127.80." + (pid >> 8 & 255) + "." + (pid & 255);
        rig.outsideDns().put(NAME, address);
        origin = new Origin(outside, NAME, address, 443, "h2", "http/1.1");
        bind(1, new Injection.Header("authorization", "Bearer "));
    }

    private Optional<Path> write(String name, String text) throws Exception {
        return Optional.of(Files.writeString(directory.resolve(name), text));
    }

    private static boolean has(String tool) throws Exception {
        return !NamespaceIT.run(List.of("sh", "-c", "command -v " + tool + " || true"), "")
                .isEmpty();
    }

    private void bind(long version, Injection injection) throws Exception {
        rig.bind(
                version,
                "{\"allow\":[{\"host\":\"api.example\",\"private\":true,\"ports\":[443]}]}",
                Sealer.json(sealer.grant("one", NAME, 443, injection, SECRET)));
    }

    @AfterEach
    void stop() throws Exception {
        if (origin != null) {
            origin.close();
        }
        if (rig != null) {
            rig.remove();
        }
    }

    /** With what space-daemon tells processes in a sandbox. */
    private String guest(String... command) throws Exception {
        List<String> all =
                new ArrayList<>(
                        List.of(
                                "env",
                                "-u",
                                "CURL_CA_BUNDLE",
                                "-u",
                                "SSL_CERT_DIR",
                                "SSL_CERT_FILE=" + root,
                                "GIT_SSL_CAINFO=" + root,
                                "REQUESTS_CA_BUNDLE=" + root,
                                "NODE_EXTRA_CA_CERTS=" + root,
                                "GIT_TERMINAL_PROMPT=0",
                                "timeout",
                                "40"));
        all.addAll(List.of(command));
        String output = rig.guest(all.toArray(String[]::new));
        said.add(output);
        return output;
    }

    private void assertInjected(String client) {
        assertThat(origin.seen()).as(client).isNotEmpty();
        assertThat(origin.seen().getLast()).as(client).contains(SECRET);
        origin.seen().clear();
    }

    private void assertNothingLeaked() {
        String base64 = Base64.getEncoder().encodeToString(SECRET.getBytes(StandardCharsets.UTF_8));
        assertThat(said).noneMatch(s -> s.contains(SECRET) || s.contains(base64));
        assertThat(said).isNotEmpty();
    }

    @Test
    void realClientsUseWhatTheyNeverSee() throws Exception {
        String url = "https://" + NAME + "/echo";
        for (String version : List.of("--http1.1", "--http2")) {
            assertThat(guest("curl", "-sS", "-i", version, url)).contains("/echo");
            assertInjected("curl " + version);
        }
        if (has("python3") && guest("python3", "-c", "import requests").isEmpty()) {
            String script = "import requests; print(requests.get('" + url + "').text)";
            assertThat(guest("python3", "-c", script)).contains("GET /echo");
            assertInjected("requests");
        }
        if (has("node")) {
            String script =
                    "fetch('" + url + "').then(r=>r.text()).then(t=>console.log(t),console.log)";
            assertThat(guest("node", "-e", script)).contains("GET /echo");
            assertInjected("fetch");
        }
        if (has("git")) {
            bind(2, new Injection.Basic("x-token"));
            assertThat(guest("git", "ls-remote", "https://" + NAME + "/repo.git"))
                    .contains("refs/heads/main");
            assertThat(origin.seen().getLast())
                    .contains(
                            Base64.getEncoder()
                                    .encodeToString(
                                            ("x-token:" + SECRET)
                                                    .getBytes(StandardCharsets.UTF_8)));
        }
        assertNothingLeaked();
    }

    @Test
    void withoutTheRootAndForOtherNamesNothingPasses() throws Exception {
        assertThat(guest("env", "-u", "SSL_CERT_FILE", "curl", "-sS", "https://" + NAME + "/"))
                .startsWith("curl: (60)");
        assertThat(
                        guest(
                                "curl",
                                "-sS",
                                "--connect-to",
                                "bank.example:443:" + NAME + ":443",
                                "https://bank.example/"))
                .startsWith("curl: (");
        assertThat(guest("curl", "-sS", "-i", "-H", "Host: bank.example", "https://" + NAME + "/"))
                .contains(" 421");
        assertThat(origin.seen()).isEmpty();
        assertNothingLeaked();
    }
}
