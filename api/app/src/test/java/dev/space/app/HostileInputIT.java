package dev.space.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.ErrorCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every path of the interface with input that no honest client sends. Each answer is one of the
 * catalogue, as a problem document whose status is the answer's own, and none is a 500.
 */
class HostileInputIT extends SharedPlatform {
    private static final Set<String> CODES =
            Arrays.stream(ErrorCode.values()).map(Enum::name).collect(Collectors.toSet());

    /** Answers that the HTTP server itself gives before the interface sees the request. */
    private static final Set<Integer> OF_THE_SERVER = Set.of(400, 414, 431);

    private static final String LONG = "a".repeat(3000);

    private static final List<String> READS =
            List.of(
                    "",
                    "/operations",
                    "/snapshots",
                    "/events",
                    "/storage",
                    "/processes",
                    "/processes/none",
                    "/processes/none/output",
                    "/files",
                    "/files/stat",
                    "/files/list");

    private static final List<String> WRITES =
            List.of(
                    "/pause",
                    "/checkpoint",
                    "/recover",
                    "/fork",
                    "/exec",
                    "/processes",
                    "/processes/none/stdin",
                    "/processes/none/signal",
                    "/directories");

    private static final List<String> QUERIES =
            List.of(
                    "wait=-1",
                    "wait=99999999999999999999",
                    "wait=NaN",
                    "wait=%00",
                    "wait=1&wait=2",
                    "limit=0",
                    "limit=-1",
                    "limit=2147483648",
                    "limit=1e3",
                    "cursor=%00",
                    "cursor=-1",
                    "cursor=9223372036854775808",
                    "cursor=" + LONG,
                    "state=%F0%28",
                    "state=running%00",
                    "state=" + LONG,
                    "label=",
                    "label=a",
                    "label==a",
                    "label=%00=x",
                    "label=a=%00",
                    "label=a=%5Cu0000",
                    "label=a=%ED%A0%80",
                    "label=a=%22%7D",
                    "label=" + LONG + "=x",
                    "offset=-1",
                    "offset=9223372036854775807",
                    "offset=9223372036854775808",
                    "stream=%00",
                    "follow=%00&stream=stdin",
                    "path",
                    "path=",
                    "path=%",
                    "path=%zz",
                    "path=%00",
                    "path=a%00b",
                    "path=%FF%FE",
                    "path=..%2f..%2f..%2fetc%2fshadow",
                    "path=" + LONG + "%2f" + "b".repeat(900),
                    "path=a&path=b",
                    "path=a&mode=99999",
                    "path=a&mode=-1",
                    "path=a&parents=maybe",
                    "&&&=&==",
                    "%",
                    "\u00ff\u00fe");

    private static final List<byte[]> BODIES =
            List.of(
                    text(""),
                    text("null"),
                    text("true"),
                    text("[]"),
                    text("\"text\""),
                    text("{"),
                    text("{\"a\":"),
                    text("{} {}"),
                    text("[".repeat(100_000)),
                    text("{\"template\":".repeat(5_000)),
                    text("{\"template\":1e999999999,\"timeoutMillis\":1e999999999}"),
                    text("{\"timeoutMillis\":99999999999999999999,\"command\":\"true\"}"),
                    text("{\"timeoutMillis\":-1,\"argv\":[\"true\"]}"),
                    text("{\"timeoutMillis\":1.5,\"argv\":[\"true\"]}"),
                    text("{\"argv\":[],\"command\":null}"),
                    text("{\"argv\":[null]}"),
                    text("{\"argv\":[[\"a\"]]}"),
                    text("{\"argv\":{\"0\":\"a\"}}"),
                    text("{\"command\":\"a\\u0000b\"}"),
                    text("{\"argv\":[\"a\\u0000\"]}"),
                    text("{\"command\":\"true\",\"cwd\":\"\\u0000\"}"),
                    text("{\"command\":\"true\",\"user\":\"root\\n\"}"),
                    text("{\"command\":\"true\",\"env\":{\"A=B\":\"c\"}}"),
                    text("{\"command\":\"true\",\"env\":{\"A\":null}}"),
                    text("{\"command\":\"true\",\"env\":{\"A\":\"\\u0000\"}}"),
                    text("{\"command\":\"true\",\"stdin\":\"%\",\"encoding\":\"base64\"}"),
                    text("{\"command\":\"true\",\"encoding\":\"utf7\"}"),
                    text("{\"command\":\"" + "a".repeat(200_000) + "\"}"),
                    text("{\"command\":\"true\",\"processId\":\"../x\"}"),
                    text("{\"signal\":0}"),
                    text("{\"signal\":\"99999999999\"}"),
                    text("{\"signal\":\"SIG\\u0000\"}"),
                    text("{\"path\":\"\\u0000\"}"),
                    text("{\"path\":\"" + "a/".repeat(3000) + "\"}"),
                    text("{\"path\":\"x\",\"mode\":\"8\"}"),
                    text("{\"name\":\"../\\u0000\"}"),
                    text("{\"name\":\"" + LONG + "\"}"),
                    text("{\"template\":\"default\",\"labels\":{\"a\":\"\\u0000\"}}"),
                    text("{\"template\":\"default\",\"labels\":{\"\":\"\"}}"),
                    text("{\"template\":\"default\",\"labels\":[]}"),
                    text("{\"template\":\"default\",\"size\":\"\\u0000\"}"),
                    text("{\"template\":\"" + LONG + "\"}"),
                    text("{\"template\":\"default\",\"deadline\":{\"afterSeconds\":-1}}"),
                    text("{\"template\":\"default\",\"deadline\":{\"afterSeconds\":1e18}}"),
                    text("{\"template\":\"default\",\"unknown\":1}"),
                    new byte[] {'{', '"', (byte) 0xff, (byte) 0xfe, '"', ':', '1', '}'},
                    new byte[] {0, 0, 0, 0},
                    new byte[] {(byte) 0xff, (byte) 0xfe, '{', 0, '}', 0},
                    new byte[(1 << 20) + 1]);

    private static @Nullable WholeNode node;

    private final List<String> complaints = new ArrayList<>();
    private String session = "";
    private int sent;

    @BeforeAll
    static void startNode(@TempDir Path dir) throws Exception {
        if (Platform.temporalBinary().isPresent()) {
            node = new WholeNode(p(), dir, "hostile-1");
        }
    }

    @AfterAll
    static void stopNode() throws Exception {
        if (node != null) {
            node.close();
        }
    }

    private static byte[] text(String body) {
        return body.getBytes(UTF_8);
    }

    @BeforeEach
    void makeSession() throws IOException {
        session = path(create("{\"template\":\"minimal\"}"));
    }

    @AfterEach
    void destroyIt() {
        p().delete(session);
    }

    @Test
    void queriesOfEveryKind() throws IOException {
        for (String query : QUERIES) {
            expectNoHarm("GET", "/v1/sessions?" + query, text(""));
            for (String read : READS) {
                expectNoHarm("GET", session + read + "?" + query, text(""));
            }
            for (String write : WRITES) {
                expectNoHarm("POST", session + write + "?" + query, text("{\"x\":1}"));
            }
            expectNoHarm("POST", "/v1/sessions?" + query, text("{\"x\":1}"));
            expectNoHarm("PUT", session + "/files?" + query, text("x"));
            expectNoHarm("DELETE", session + "/files?" + query, text(""));
            expectNoHarm("DELETE", "/v1/sessions/none?" + query, text(""));
            expectNoHarm("GET", "/v1/operations/none?" + query, text(""));
        }
        assertThat(complaints).as("of %d requests", sent).isEmpty();
    }

    @Test
    void aParameterThatNobodyKnowsOrThatIsGivenTwiceIsNamed() throws IOException {
        assertThat(refusal("POST", session + "/pause?wiat=1", "{}"))
                .contains("did you mean wait?")
                .contains("This path takes wait");
        assertThat(refusal("DELETE", session + "/files?path=a&recursiv=true", ""))
                .contains("did you mean recursive?");
        assertThat(refusal("GET", "/v1/whoami?x", "")).contains("takes no query parameters");
        assertThat(refusal("GET", "/v1/sessions?limit=1&limit=2", ""))
                .contains("limit is given twice");
        assertThat(refusal("GET", session + "/files?path=a&path=b", ""))
                .contains("path is given twice");
        assertThat(refusal("DELETE", session + ";x=1", "")).contains("%3B");
        assertThat(refusal("GET", "/v1/credentials/%00", "")).contains("NUL");
        assertThat(refusal("DELETE", session + "/grants/a%00", "")).contains("NUL");
        RawHttp http = new RawHttp(p().ports.getFirst(), Platform.KEY);
        assertThat(http.send("GET", "/v1/sessions?label=a=b&label=c=d", text("")).status())
                .isEqualTo(200);
        RawHttp.Answer method = http.send("PATCH", "/v1/sessions", text(""));
        assertThat(method.status()).isEqualTo(405);
        assertThat(method.body()).contains("does not take PATCH");
    }

    private String refusal(String method, String target, String body) throws IOException {
        RawHttp http = new RawHttp(p().ports.getFirst(), Platform.KEY);
        RawHttp.Answer answer = http.send(method, target, text(body));
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.code()).isEqualTo("INVALID_ARGUMENT");
        return answer.body();
    }

    @Test
    void bodiesOfEveryKind() throws IOException {
        for (byte[] body : BODIES) {
            for (String write : WRITES) {
                if (!write.equals("/pause")) {
                    expectNoHarm("POST", session + write, body);
                }
            }
            expectNoHarm("POST", "/v1/sessions?wait=0", body);
        }
        assertThat(complaints).as("of %d requests", sent).isEmpty();
    }

    @Test
    void idsMethodsAndHeadersOfEveryKind() throws IOException {
        List<String> ids =
                List.of("x", "%00", "..", "%2e%2e%2f", "ses_", LONG, "%F0%28", "ses_%22", "-1");
        for (String id : ids) {
            for (String read : READS) {
                expectNoHarm("GET", "/v1/sessions/" + id + read + "?path=a", text(""));
            }
            expectNoHarm("GET", session + "/processes/" + id, text(""));
            expectNoHarm("GET", session + "/processes/" + id + "/output", text(""));
            expectNoHarm("POST", session + "/" + id, text(""));
            expectNoHarm("GET", "/v1/operations/" + id, text(""));
            expectNoHarm("DELETE", "/v1/sessions/" + id, text(""));
        }
        for (String method : List.of("PATCH", "PUT", "TRACE", "OPTIONS", "BREW")) {
            expectNoHarm(method, "/v1/sessions", text(""));
            expectNoHarm(method, session + "/exec", text("{}"));
        }
        List<String> headers =
                List.of(
                        "Content-Type: text/plain",
                        "Content-Type: ///",
                        "Content-Type: application/json; charset=utf-7",
                        "Content-Type:",
                        "Content-Encoding: gzip",
                        "Accept: text/html",
                        "Accept: ///",
                        "Idempotency-Key:",
                        "Idempotency-Key: " + "k".repeat(256),
                        "Idempotency-Key: a b",
                        "Idempotency-Key: \u00ff",
                        "Range: bytes=9-1",
                        "Range: bytes=99999999999999999999-",
                        "Range: lines=1-2");
        for (String header : headers) {
            expectNoHarm("GET", session + "/files?path=none", text(""), header);
            expectNoHarm("POST", session + "/exec", text("{\"x\":1}"), header);
            expectNoHarm("POST", "/v1/sessions", text("{\"x\":1}"), header);
            expectNoHarm("GET", "/v1/whoami", text(""), header);
        }
        assertThat(complaints).as("of %d requests", sent).isEmpty();
    }

    /** Whatever is answered is meant; the complaints are gathered, so that one run tells all. */
    private void expectNoHarm(String method, String target, byte[] body, String... headers)
            throws IOException {
        sent++;
        RawHttp http = new RawHttp(p().ports.getFirst(), Platform.KEY);
        RawHttp.Answer answer = http.send(method, target, body, headers);
        String bad = complaint(answer);
        if (bad != null) {
            String shown = target.length() > 120 ? target.substring(0, 120) + "..." : target;
            String start = new String(body, 0, Math.min(60, body.length), ISO_8859_1);
            complaints.add(
                    method + " " + shown + " " + List.of(headers) + " " + start + ": " + bad);
        }
    }

    private static @Nullable String complaint(RawHttp.Answer answer) {
        int status = answer.status();
        if (status >= 200 && status < 400) {
            return null;
        }
        boolean server = OF_THE_SERVER.contains(status) && !answer.isProblem();
        if (server && answer.body().strip().length() < 80) {
            return null;
        }
        if (status == 500 || status == 0) {
            return status + " " + answer.body().strip();
        }
        if (!CODES.contains(answer.code())) {
            return status + " is no problem document: " + answer.head() + answer.body();
        }
        return answer.statusInBody() == status
                ? null
                : status + ", but its body says " + answer.statusInBody();
    }
}
