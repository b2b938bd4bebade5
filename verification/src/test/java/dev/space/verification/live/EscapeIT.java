package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.space.verification.Repository;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * The escape list: a real guest, as root, tries what a sandbox that was taken over would. Each
 * attempt is refused, and counted where the table says; what the gateway refuses is in the
 * session's log. Before and after, what is allowed works.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class EscapeIT {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration LOG_MAX = Duration.ofSeconds(90);

    /** What a thousand slow connections may take for a while, besides what the heap may grow to. */
    private static final long GATEWAY_MIB_MAX = 512;

    /** The guest's own kernel refuses. */
    private static final String LOCALLY = "guest";

    private static final String POLICY =
            """
            {"allow":[{"host":"ok.test","ports":[80],"private":true},
                      {"host":"ok.test","ports":[443],"private":true,
                       "http":[{"methods":["GET"],"path":"/control*"}]},
                      {"host":"plain.test","ports":[443],"private":true},
                      {"host":"other.test","ports":[8081],"private":true},
                      {"host":"public.test"}]}
            """;

    /** Who refuses and counts: a reason of the gateway's, or a counter of the packet filter. */
    private static final Map<String, List<String>> BY_COUNTER = new LinkedHashMap<>();

    /** Last, for they are more than a session's log takes in a minute. */
    private static final Map<String, String> FLOODS =
            Map.of("LIMIT_RATE", "dns-flood", "LIMIT_CONNECTIONS", "slow-thousand");

    static {
        put(
                "ADDRESS_NOT_ALLOWED",
                "host-ssh host-http gateway-listener gateway-dns-by-tcp other-sandbox private-10"
                        + " private-172 private-192 carrier-nat metadata-link-local metadata-tasks"
                        + " metadata-alibaba metadata-oracle metadata-azure raw-ip-http"
                        + " raw-ip-https raw-ip-mail dns-over-tls dns-over-https-by-ip"
                        + " dns-over-tcp socks-by-ip redirect-to-metadata platform-port-0"
                        + " platform-port-1 platform-port-2 platform-port-3 platform-port-4"
                        + " platform-port-5");
        put("ADDRESS_UNKNOWN", "synthetic-unknown");
        put("ADDRESS_FORBIDDEN", "rebinding");
        put("PORT_NOT_ALLOWED", "other-port-ssh other-port-http other-port-of-other");
        put(
                "NAME_NOT_ALLOWED",
                "dns-evil dns-other-resolver dns-tunnel dns-tunnel-below-allowed dns-tunnel-txt"
                        + " dns-transfer dns-over-https-name dns-metadata-name dns-host-itself"
                        + " dns-reverse redirect-to-name");
        put("QUERY_NOT_SUPPORTED", "dns-two-questions dns-version dns-bad-label");
        put(
                "HTTP_HOST_MISMATCH",
                "host-other host-missing host-twice host-with-user host-list host-address"
                        + " host-empty host-longer host-port websocket-other-host smuggle-second"
                        + " smuggle-after-upgrade fronting fronting-twice");
        put(
                "HTTP_MALFORMED",
                "absolute-target connect connect-by-own-name smuggle-length-chunks"
                        + " smuggle-two-lengths smuggle-two-codings smuggle-odd-coding"
                        + " smuggle-space-in-name smuggle-nul smuggle-bad-chunk"
                        + " http2-prior-knowledge http-0.9 oversized-head inside-connect"
                        + " inside-smuggle");
        put("REQUEST_NOT_ALLOWED", "inside-method inside-path");
        put("PATH_AMBIGUOUS", "inside-dots inside-encoded");
        put("TLS_NAME_MISMATCH", "sni-other sni-below sni-nul");
        put("TLS_NAME_MISSING", "sni-missing sni-hidden");
        put(
                "TLS_MALFORMED",
                "sni-twice http-on-443 ssh-on-443 socks4-on-443 socks5-on-443 oversized-record"
                        + " old-tls");
        put("drop_udp", "quic quic-to-allowed-name ntp dns-over-quic gateway-dns-port vpn");
        put("drop_multicast", "mdns ssdp broadcast igmp");
        put("drop_icmp", "ping-gateway ping-outside icmp-tunnel");
        put("drop_other", "gre esp sctp ip-in-ip");
        put("drop_fragments", "first-fragment later-fragment");
        put("drop_options", "source-route");
        put("drop_spoofed", "spoofed-neighbour spoofed-loopback spoofed-gateway spoofed-mac");
        put("drop_ethernet", "arp-poison lldp");
        put("drop_ipv6", "ipv6-tcp ipv6-dns ipv6-neighbours");
        put(LOCALLY, "vsock channel-port");
    }

    private static void put(String counter, String names) {
        List<String> none = BY_COUNTER.put(counter, List.of(names.split(" ", -1)));
        assertThat(none).isNull();
    }

    @SuppressWarnings("NullAway.Init") // set before every test
    private EgressServers servers;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Platform platform;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Rest rest;

    @BeforeAll
    void start() throws Exception {
        Platform.whyNot().ifPresent(why -> System.err.println("EscapeIT is not run: " + why));
        assumeTrue(Platform.whyNot().isEmpty(), () -> Platform.whyNot().orElseThrow());
        servers = new EgressServers();
        platform =
                Platform.start(
                        Repository.root(),
                        2,
                        """
                        rolling: {disk-seconds: 0, full-seconds: 0}
                            pool: {hot: 0, prepared: 0}
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

    @Test
    void noAttemptGetsOutAndEachIsCountedAndWrittenDown() throws Exception {
        Map<String, Object> wanted =
                Map.of(
                        "template", Platform.TEMPLATE,
                        "size", Platform.SIZE,
                        "network", JSON.readTree(POLICY));
        String id =
                rest.insist("POST", "/v1/sessions?wait=120", wanted)
                        .demand()
                        .json()
                        .path("id")
                        .asText();
        rest.shell(id, "echo " + packed() + " | base64 -d | gunzip >escape.py");
        long gateway = platform.pid("gateway");
        long worker = platform.pid("node-worker");
        assertThat(control(id)).as("before").contains("served /control");

        List<String> wrong = new ArrayList<>();
        for (Map.Entry<String, List<String>> group : BY_COUNTER.entrySet()) {
            wrong.addAll(wrongOf(id, group.getKey(), group.getValue()));
        }
        assertThat(wrong).isEmpty();
        Await.until("each refusal is written down", LOG_MAX, () -> isWrittenDown(id));
        for (Map.Entry<String, String> flood : FLOODS.entrySet()) {
            wrong.addAll(wrongOf(id, flood.getKey(), List.of(flood.getValue())));
        }
        assertThat(wrong).isEmpty();
        assertThat(servers.paths).as("what servers saw").noneMatch(p -> p.contains("escape"));
        assertThat(servers.asked).noneMatch(n -> n.contains("evil"));

        assertThat(control(id)).as("after").contains("served /control");
        assertThat(platform.pid("gateway")).isEqualTo(gateway);
        assertThat(platform.pid("node-worker")).isEqualTo(worker);
        assertThat(residentMib(gateway)).isBetween(1L, GATEWAY_MIB_MAX);
        rest.destroy(id);
    }

    /** Attempts that came through, or were refused without being counted where they should. */
    private List<String> wrongOf(String session, String counter, List<String> names)
            throws Exception {
        long before = count(counter);
        Map<String, String> outcomes = attempt(session, names);
        long counted = count(counter) - before;
        assertThat(outcomes.keySet()).containsExactlyInAnyOrderElementsOf(names);
        List<String> wrong = new ArrayList<>();
        outcomes.forEach((name, outcome) -> {
            if (!outcome.startsWith("refused")) {
                wrong.add(name + ": " + outcome);
            }
        });
        if (!counter.equals(LOCALLY) && counted < outcomes.size()) {
            wrong.add(counter + " counted " + counted + " of " + outcomes);
        }
        return wrong;
    }

    private static String packed() throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            Path script = Repository.root().resolve("verification/src/test/resources/escape.py");
            out.write(Files.readAllBytes(script));
        }
        return Base64.getEncoder().encodeToString(packed.toByteArray());
    }

    /** What is allowed, through each kind of check that there is. */
    private String control(String session) throws IOException {
        String script =
                "import socket,ssl;"
                        + "q=b\"GET /control HTTP/1.1\\r\\nHost: ok.test\\r\\n"
                        + "Connection: close\\r\\n\\r\\n\";"
                        + "a=socket.create_connection((\"ok.test\",80),10);a.sendall(q);"
                        + "b=ssl.create_default_context().wrap_socket("
                        + "socket.create_connection((\"ok.test\",443),20),"
                        + "server_hostname=\"ok.test\");b.sendall(q);"
                        + "r=lambda s:b\"\".join(iter(lambda:s.recv(999),b\"\"));"
                        + "x,y=r(a),r(b);assert b\"served /control\" in x,x;print(y)";
        return rest.shell(session, "python3 -c '" + script + "'");
    }

    private Map<String, String> attempt(String session, List<String> names) throws IOException {
        List<String> ports = new ArrayList<>();
        for (String service :
                List.of(
                        "control",
                        "node-api",
                        "node-http",
                        "gateway-http",
                        "postgres",
                        "temporal")) {
            ports.add(Integer.toString(platform.port(service)));
        }
        String command =
                "cd /home/agent && ulimit -n 4096 && python3 escape.py %s %s"
                        .formatted(String.join(",", ports), String.join(" ", names));
        Map<String, String> outcomes = new HashMap<>();
        for (String line : rest.shellAsRoot(session, command).split("\n", -1)) {
            int tab = line.indexOf('\t');
            if (tab > 0) {
                outcomes.put(line.substring(0, tab), line.substring(tab + 1));
                System.err.println("EscapeIT " + line);
            }
        }
        return outcomes;
    }

    /** Of the one slot, or of the gateway's process. */
    private long count(String counter) throws Exception {
        if (counter.startsWith("drop_")) {
            return dropped(counter);
        }
        if (counter.equals(LOCALLY)) {
            return 0;
        }
        String metrics = metrics();
        Matcher m =
                Pattern.compile(
                                "(?m)^space_gateway_refused_total\\{reason=\"%s\"} ([0-9.E]+)"
                                        .formatted(counter))
                        .matcher(metrics);
        if (!m.find()) {
            throw new IOException("no metric of " + counter + " in " + metrics);
        }
        return (long) Double.parseDouble(m.group(1));
    }

    private String metrics() throws Exception {
        URI metrics = URI.create("http://127.0.0.1:" + platform.port("gateway-http") + "/metrics");
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpRequest get = HttpRequest.newBuilder(metrics).timeout(LOG_MAX).build();
            return http.send(get, BodyHandlers.ofString()).body();
        }
    }

    private long dropped(String counter) throws IOException {
        long sum = 0;
        for (String name : EgressIT.run("ip", "netns", "list").split("\\s+", -1)) {
            if (name.startsWith("space-" + platform.instance() + "-")) {
                String rules = EgressIT.run("ip", "netns", "exec", name, "nft", "list", "ruleset");
                Matcher m =
                        Pattern.compile("counter " + counter + " \\{\\s+packets (\\d+)")
                                .matcher(rules);
                if (m.find()) {
                    sum += Long.parseLong(m.group(1));
                }
            }
        }
        return sum;
    }

    private static long residentMib(long pid) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) >> 10;
            }
        }
        throw new IOException("process " + pid + " has no memory");
    }

    /**
     * Whether the session's log has every refusal of the gateway's, or says that it left out as
     * many as are missing: it takes a number of entries a minute.
     */
    private boolean isWrittenDown(String session) throws IOException {
        Map<String, Integer> written = new HashMap<>();
        int leftOut = 0;
        JsonNode log = rest.get("/v1/sessions/" + session + "/network/log?limit=1000");
        for (JsonNode entry : log.path("entries")) {
            if (entry.path("verdict").asText().equals("deny")) {
                String reason = entry.path("detail").asText().split(" ", -1)[0];
                written.merge(reason.toUpperCase(Locale.ROOT), 1, Integer::sum);
            } else if (entry.path("verdict").asText().equals("gap")) {
                leftOut += Integer.parseInt(entry.path("target").asText().split(" ", -1)[0]);
            }
        }
        int missing = 0;
        for (Map.Entry<String, List<String>> group : BY_COUNTER.entrySet()) {
            if (group.getKey().equals(group.getKey().toUpperCase(Locale.ROOT))) {
                int times = written.getOrDefault(group.getKey(), 0);
                missing += Math.max(0, group.getValue().size() - times);
            }
        }
        if (missing > leftOut) {
            // What was left out in a minute is told with the first entry of another.
            String _ = control(session);
        }
        return missing <= leftOut;
    }
}
