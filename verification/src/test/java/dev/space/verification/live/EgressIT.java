package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.space.verification.Repository;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What real guests reach through the gateway, and that there is no other way out. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class EgressIT {

    private static final Duration STEP_MAX = Duration.ofMinutes(2);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String REFUSED = "(?s)error.*|nothing|.*403.*";
    private static final String POLICY =
            """
            {"allow":[{"host":"ok.test","private":true},
                      {"host":"other.test","ports":[8081],"private":true},
                      {"host":"public.test"}]}
            """;

    /** A client with nothing but sockets; prints what it got, or the error. */
    private static final String CLIENT =
            """
            import errno, socket, sys
            kind, host = sys.argv[1:3]
            port = int(sys.argv[3]) if len(sys.argv) > 3 else 0
            try:
                if kind == "dns":
                    print(socket.gethostbyname(host))
                elif kind == "icmp":
                    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
                    s.settimeout(1)
                    s.sendto(bytes.fromhex("0800f7fd00010001"), (host, 0))
                    print(s.recvfrom(100))
                elif kind == "udp":
                    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                    s.settimeout(1)
                    s.sendto(b"hello", (host, port))
                    print(s.recvfrom(100))
                elif kind == "six":
                    socket.create_connection((host, port), 2)
                    print("connected")
                else:
                    s = socket.create_connection((host, port), 10)
                    if kind == "https":
                        import ssl
                        s = ssl.create_default_context().wrap_socket(s, server_hostname=host)
                    if kind == "tls":
                        s.sendall(bytes.fromhex(sys.argv[4]))
                    else:
                        name = sys.argv[4] if len(sys.argv) > 4 else host
                        s.sendall(b"GET /a HTTP/1.1\\r\\nHost: " + name.encode() + b"\\r\\n"
                                  + (b"" if kind == "hold" else b"Authorization: mine\\r\\n"
                                     b"Connection: close\\r\\n\\r\\n"))
                    if kind == "hold":
                        print("held", flush=True)
                    got = b""
                    while True:
                        part = s.recv(4096)
                        if not part:
                            break
                        got += part
                        if kind == "tls":
                            break
                    print(got[:2].hex() if kind == "tls" else got.decode() or "nothing")
            except socket.timeout:
                print("error timeout")
            except socket.gaierror as e:
                print("error name", e.errno)
            except OSError as e:
                print("error", errno.errorcode.get(e.errno, e.errno))
            """;

    @SuppressWarnings("NullAway.Init") // set before every test
    private EgressServers servers;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Platform platform;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Rest rest;

    @BeforeAll
    void start() throws Exception {
        Platform.whyNot().ifPresent(why -> System.err.println("EgressIT is not run: " + why));
        assumeTrue(Platform.whyNot().isEmpty(), () -> Platform.whyNot().orElseThrow());
        servers = new EgressServers();
        platform =
                Platform.start(
                        Repository.root(),
                        8,
                        """
                        rolling: {disk-seconds: 0, full-seconds: 0}
                            pool: {hot: 1, prepared: 0}
                          egress:
                            resolvers: 127.0.0.1:%d
                            extra-roots: %s\
                        """
                                .formatted(servers.dnsPort(), servers.certificate()));
        rest = platform.rest();
        platform.awaitReady();
    }

    @AfterAll
    void stop() throws IOException {
        if (platform != null) {
            platform.close();
        }
        if (servers != null) {
            servers.close();
        }
    }

    private String created(String policy) throws IOException {
        Map<String, Object> body = new TreeMap<>();
        body.put("template", Platform.TEMPLATE);
        body.put("size", Platform.SIZE);
        if (!policy.isEmpty()) {
            body.put("network", JSON.readTree(policy));
        }
        JsonNode made = rest.insist("POST", "/v1/sessions?wait=120", body).demand().json();
        String session = made.path("id").asText();
        String client = Base64.getEncoder().encodeToString(CLIENT.getBytes(StandardCharsets.UTF_8));
        rest.shell(session, "echo " + client + " | base64 -d >net.py");
        return session;
    }

    private String client(String session, Object... words) throws IOException {
        return rest.shell(session, line(words)).strip();
    }

    private static String line(Object... words) {
        return "python3 net.py "
                + String.join(" ", List.of(words).stream().map(Object::toString).toList());
    }

    @Test
    void whatThePolicyNamesIsReachedByNameAndNothingElse() throws Exception {
        String id = created(POLICY);
        assertThat(client(id, "dns", "ok.test")).startsWith("198.1");
        assertThat(client(id, "http", "ok.test", 80)).contains("200 OK", "served /a");
        assertThat(client(id, "http", "other.test", 8081)).contains("served /a");
        String hello = EgressServers.clientHello("ok.test");
        assertThat(client(id, "tls", "ok.test", 443, hello)).isEqualTo("1603");

        int before = servers.requests.get();
        String wrong = EgressServers.clientHello("evil.test");
        assertThat(client(id, "tls", "ok.test", 443, wrong)).startsWith("error");
        assertThat(client(id, "http", "ok.test", 80, "evil.test")).contains("403");
        assertThat(client(id, "http", "ok.test", 8081)).matches(REFUSED);
        assertThat(client(id, "http", "other.test", 80)).matches(REFUSED);
        assertThat(client(id, "dns", "evil.test")).startsWith("error name");
        // A name that is allowed, but leads into this machine.
        assertThat(client(id, "http", "public.test", 80))
                .matches("(?s)error.*|.*50[234].*|.*403.*");
        assertThat(servers.requests.get()).isEqualTo(before);
        assertThat(servers.asked).doesNotContain("evil.test.").contains("ok.test.");

        Await.until(
                "the refusals are in the log",
                STEP_MAX,
                () -> {
                    String log = rest.get("/v1/sessions/" + id + "/network/log").toString();
                    return log.contains("evil.test")
                            && log.contains("\"deny\"")
                            && log.contains("\"allow\"");
                });
        rest.destroy(id);
    }

    @Test
    void thereIsNoOtherWayOutAndEachAttemptIsCounted() throws Exception {
        String id = created(POLICY);
        List<String> addresses =
                List.of(
                        "169.254.169.254",
                        EgressServers.ADDRESS.replace("127.", "10."),
                        "10.200.0.1",
                        "192.168.1.1",
                        "93.184.216.34",
                        "198.18.99.99");
        int before = servers.requests.get();
        for (String address : addresses) {
            for (int port : List.of(80, 443, platform.port("control"), 22)) {
                assertThat(client(id, "http", address, port))
                        .as("%s:%d", address, port)
                        .matches(REFUSED);
            }
        }
        assertThat(client(id, "udp", "9.9.9.9", 443)).isEqualTo("error timeout");
        assertThat(client(id, "udp", "10.200.0.1", 123)).isEqualTo("error timeout");
        assertThat(client(id, "six", "2606:4700::1111", 443)).startsWith("error");
        assertThat(rest.shellAsRoot(id, "cd /home/agent && " + line("icmp", "10.200.0.1")))
                .startsWith("error timeout");
        // As root the guest takes another address; the answer would have to come to that.
        String spoof =
                "python3 -c 'import socket; s=socket.socket(socket.AF_PACKET,socket.SOCK_RAW);"
                        + "s.bind((\"eth0\",0)); s.send(bytes.fromhex(\"02fc0000000102fc00000002"
                        + "080045000020000100004011a70dc0a80105090909099c400035000c000068656c6c\"))'";
        rest.shellAsRoot(id, spoof);
        assertThat(servers.requests.get()).isEqualTo(before);
        Map<String, Long> counters = counters();
        for (String name : List.of("drop_udp", "drop_icmp", "drop_spoofed")) {
            assertThat(counters.getOrDefault(name, 0L)).as(name).isPositive();
        }
        rest.destroy(id);
    }

    @Test
    void aSessionWithoutAPolicyReachesNothingAndIsToldAtOnce() throws Exception {
        String id = created("");
        assertThat(client(id, "http", "10.200.0.1", 80)).isEqualTo("error ECONNREFUSED");
        assertThat(client(id, "dns", "ok.test")).startsWith("error name");
        rest.insist("PUT", "/v1/sessions/" + id + "/network", JSON.readTree(POLICY)).demand();
        assertThat(client(id, "http", "ok.test", 80)).contains("served /a");
        JsonNode taken =
                rest.insist("PUT", "/v1/sessions/" + id + "/network", Map.of()).demand().json();
        assertThat(taken.path("applied").asBoolean()).isTrue();
        assertThat(client(id, "http", "ok.test", 80)).startsWith("error");
        rest.destroy(id);
    }

    @Test
    void anAddressThatWasCachedIsTheSameNameAfterPauseForkAndRollback() throws Exception {
        String id = created(POLICY);
        String cached = client(id, "dns", "ok.test");
        rest.command(id, "pause").demand();
        rest.command(id, "resume").demand();
        assertThat(client(id, "http", cached, 80, "ok.test")).contains("served /a");
        String child = rest.fork(id, 1).path("children").get(0).path("id").asText();
        assertThat(client(child, "http", cached, 80, "ok.test")).contains("served /a");
        rest.destroy(child);
        String snapshot =
                rest.list("/v1/sessions/" + id + "/snapshots").getFirst().path("id").asText();
        rest.rollback(id, snapshot).demand();
        assertThat(client(id, "http", cached, 80, "ok.test")).contains("served /a");
        rest.destroy(id);
    }

    @Test
    void aCredentialReachesItsServerAndNeverTheGuest() throws Exception {
        String secret = "it-" + UUID.randomUUID();
        String id = created(POLICY);
        // Without a grant nothing looks into TLS: the server's own certificate is a stranger's.
        assertThat(client(id, "https", "ok.test", 443)).startsWith("error");
        rest.insist(
                        "PUT",
                        "/v1/credentials/it",
                        Map.of(
                                "value",
                                secret,
                                "hosts",
                                List.of(Map.of("host", "ok.test")),
                                "injection",
                                Map.of(
                                        "kind",
                                        "header",
                                        "name",
                                        "authorization",
                                        "prefix",
                                        "Key ")))
                .demand();
        String grant = "/v1/sessions/" + id + "/grants/it";
        rest.insist("PUT", grant, Map.of()).demand();
        String got = client(id, "https", "ok.test", 443);
        assertThat(got).contains("200 OK", "served /a for Key ****").doesNotContain(secret);
        assertThat(servers.authorizations.getLast()).isEqualTo("Key " + secret);
        // Plain HTTP gets none, and what the guest sends by itself is its own.
        assertThat(client(id, "http", "ok.test", 80)).contains("for mine");

        String leak = "leak-" + UUID.randomUUID();
        rest.shell(id, "echo " + leak + " >leak; sync");
        rest.command(id, "pause").demand();
        assertThat(heldAnywhere(leak)).as("the search finds what the guest has").isNotEmpty();
        assertThat(heldAnywhere(secret)).isEmpty();
        rest.command(id, "resume").demand();
        assertThat(client(id, "https", "ok.test", 443)).contains("for Key ****");
        rest.insist("DELETE", grant, null).demand();
        int before = servers.authorizations.size();
        assertThat(client(id, "https", "ok.test", 443)).startsWith("error");
        assertThat(servers.authorizations).hasSize(before);
        Await.until(
                "its use is in the log",
                STEP_MAX,
                () -> {
                    String log = rest.get("/v1/sessions/" + id + "/network/log").toString();
                    return log.contains("credential crd_") && !log.contains(secret);
                });
        rest.destroy(id);
    }

    /**
     * Files of the platform, guests' memories, disks, logs, rows and histories, that hold a text.
     */
    private List<String> heldAnywhere(String text) throws IOException {
        String data = platform.data().toString();
        // The image of the volume is its mounted files once more.
        return run("grep", "-rlaF", "-D", "skip", "--exclude=*.img", "--", text, data)
                .lines()
                .toList();
    }

    @Test
    void aKilledGatewayResetsNothingElseAndIsBackSoon() throws Exception {
        String id = created(POLICY);
        String held = rest.background(id, line("hold", "other.test", 8081));
        Await.until("it is held", STEP_MAX, () -> rest.output(id, held).contains("held"));
        platform.kill("gateway");
        Await.until(
                "its connection ends",
                STEP_MAX,
                () -> rest.process(id, held).path("state").asText().equals("EXITED"));
        assertThat(rest.output(id, held)).containsAnyOf("ECONNRESET", "nothing");
        assertThat(rest.shell(id, "echo alive")).isEqualTo("alive\n");
        long began = System.nanoTime();
        Await.until(
                "it works again",
                STEP_MAX,
                () -> client(id, "http", "ok.test", 80).contains("served /a"));
        System.err.printf(
                "network back %d ms after the gateway's end was seen%n",
                (System.nanoTime() - began) / 1_000_000);
        platform.awaitReady();
        platform.kill("node-worker");
        platform.awaitReady();
        assertThat(client(id, "http", "ok.test", 80)).contains("served /a");
        rest.destroy(id);
    }

    /** Of all slots of the platform together. */
    private Map<String, Long> counters() throws IOException {
        Map<String, Long> sum = new TreeMap<>();
        for (String name : run("ip", "netns", "list").split("\\s+", -1)) {
            if (name.startsWith("space-" + platform.instance() + "-")) {
                Matcher m =
                        Pattern.compile("counter (\\w+) \\{\\s+packets (\\d+)")
                                .matcher(
                                        run("ip", "netns", "exec", name, "nft", "list", "ruleset"));
                while (m.find()) {
                    sum.merge(m.group(1), Long.parseLong(m.group(2)), Long::sum);
                }
            }
        }
        return sum;
    }

    /** Standard output of a program. */
    static String run(String... command) throws IOException {
        Process process = new ProcessBuilder(command).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.onExit().orTimeout(30, java.util.concurrent.TimeUnit.SECONDS).join();
        return output;
    }
}
