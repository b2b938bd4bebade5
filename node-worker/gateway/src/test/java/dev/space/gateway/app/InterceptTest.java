package dev.space.gateway.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** TLS that a rule has looked into, with real clients. */
@Timeout(120)
final class InterceptTest {

    private static final String URL = "https://" + InterceptRig.NAME;

    @TempDir Path directory;

    @SuppressWarnings("NullAway.Init") // set before every test
    private InterceptRig rig;

    @BeforeEach
    void start() throws Exception {
        rig = new InterceptRig(directory);
        bind("");
    }

    @AfterEach
    void stop() {
        if (rig != null) {
            rig.close();
        }
    }

    private void bind(String more) {
        rig.rig.bind(
                ("{'allow':[{'host':'api.example','private':true,'ports':[443],'http':["
                                + "{'methods':['GET','POST','HEAD','PUT'],'path':'/*'},"
                                + "{'methods':['DELETE'],'path':'/mine/*'}]}]"
                                + more
                                + "}")
                        .replace('\'', '"'));
    }

    private static String version(String flag) {
        return flag.equals("--http2") ? "h2" : "h1";
    }

    @ParameterizedTest
    @ValueSource(strings = {"--http1.1", "--http2"})
    void requestsPassAndEachIsJudged(String flag) throws Exception {
        try (Origin origin = rig.origin("h2", "http/1.1")) {
            assertThat(rig.curl(flag, URL + "/echo"))
                    .startsWith(version(flag) + " GET /echo")
                    .endsWith("\n0");
            assertThat(rig.curl(flag, "-d", "hello", URL + "/echo"))
                    .startsWith(version(flag) + " POST /echo")
                    .endsWith("hello\n5");
            assertThat(rig.curl(flag, "-I", URL + "/echo")).contains("200").contains("x-echo");
            assertThat(rig.curl(flag, "-i", "-X", "DELETE", URL + "/mine/a")).contains(" 200");
            assertThat(rig.curl(flag, "-i", "-X", "DELETE", URL + "/other"))
                    .contains(" 403")
                    .contains("space-refused: REQUEST_NOT_ALLOWED")
                    .contains("does not allow DELETE to api.example");
            assertThat(origin.seen()).noneMatch(s -> s.contains("/other"));
            assertThat(rig.curl(flag, "-i", "-H", "Host: b.example", URL + "/echo"))
                    .contains(" 421")
                    .contains("HTTP_HOST_MISMATCH");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--http1.1", "--http2"})
    void manyRequestsShareAConnection(String flag) throws Exception {
        try (Origin origin = rig.origin("h2", "http/1.1")) {
            List<String> arguments = new ArrayList<>(List.of(flag, "-Z"));
            for (int i = 0; i < 20; i++) {
                arguments.add(URL + "/echo?" + i);
            }
            String said = rig.curl(arguments.toArray(String[]::new));
            for (int i = 0; i < 20; i++) {
                assertThat(said).contains("GET /echo?" + i + "\n");
            }
            assertThat(origin.seen()).hasSize(20);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--http1.1", "--http2"})
    void largeBodiesPassBothWays(String flag) throws Exception {
        int size = 20_000_000;
        Path body = Files.write(directory.resolve("body"), new byte[size]);
        Path got = directory.resolve("got");
        try (Origin _ = rig.origin("h2", "http/1.1")) {
            assertThat(rig.curl(flag, "-o", got.toString(), URL + "/big/" + size)).isEmpty();
            assertThat(Files.size(got)).isEqualTo(size);
            assertThat(rig.curl(flag, "-T", body.toString(), URL + "/echo")).endsWith("\n" + size);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--http1.1", "--http2"})
    void streamsAndTrailersPassAsTheyCome(String flag) throws Exception {
        try (Origin _ = rig.origin("h2", "http/1.1")) {
            String first = rig.curl(flag, "-N", "-m", "1", URL + "/events");
            assertThat(first).contains("data: one").doesNotContain("data: two");
            assertThat(rig.curl(flag, "-N", URL + "/events")).contains("one").contains("two");
            assertThat(rig.curl(flag, "-i", URL + "/trailers"))
                    .contains("with trailer")
                    .contains("x-sum: 42");
        }
    }

    @Test
    void aServerWithoutHttp2IsMetWithHttp1() throws Exception {
        try (Origin _ = rig.origin("http/1.1")) {
            assertThat(rig.curl("--http2", URL + "/echo")).startsWith("h1 GET /echo");
            assertThat(rig.curl("--http2", URL + "/close")).isEqualTo("until the end");
        }
    }

    @Test
    void whatCannotBeTrustedIsExplained() throws Exception {
        for (String flag : List.of("--http1.1", "--http2")) {
            assertThat(rig.curl(flag, "-i", URL + "/echo"))
                    .contains(" 502")
                    .contains("space-refused: CONNECT_FAILED");
        }
        try (Origin _ = new Origin(rig.outsideRoot, "b.example", rig.address, 443, "h2")) {
            assertThat(rig.curl("-i", URL + "/echo")).contains(" 502").contains("TLS_UNTRUSTED");
        }
        try (Origin origin = new Origin(rig.root, InterceptRig.NAME, rig.address, 443, "h2")) {
            assertThat(rig.curl("-i", URL + "/echo")).contains(" 502").contains("TLS_UNTRUSTED");
            assertThat(origin.seen()).isEmpty();
        }
    }

    @Test
    void clientsSeeTheSessionsChainAndNoOtherName() throws Exception {
        try (Origin _ = rig.origin("http/1.1")) {
            String said =
                    InterceptRig.run(
                            List.of(
                                    "openssl",
                                    "s_client",
                                    "-connect",
                                    "127.0.0.1:" + rig.port(),
                                    "-servername",
                                    InterceptRig.NAME,
                                    "-verify_hostname",
                                    InterceptRig.NAME,
                                    "-CAfile",
                                    rig.rootFile.toString(),
                                    "-verify_return_error"));
            assertThat(said).contains("Verify return code: 0 (ok)").contains(Rig.SESSION);
            assertThat(rig.curl("--cacert", "/etc/ssl/certs/ca-certificates.crt", URL + "/echo"))
                    .contains("curl: (60)");
        }
    }

    /** The JDK's own client, which verifies chain and name. */
    private SSLSocket jdk() throws Exception {
        var store = java.security.KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setCertificateEntry("root", rig.root.own());
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        Socket plain = rig.rig.connect(InterceptRig.NAME, 443);
        SSLSocket tls =
                (SSLSocket)
                        context.getSocketFactory()
                                .createSocket(plain, InterceptRig.NAME, 443, true);
        var parameters = tls.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        tls.setSSLParameters(parameters);
        return tls;
    }

    private static void send(Socket socket, String request) throws IOException {
        socket.getOutputStream().write(request.replace("~", "\r\n").getBytes(ISO_8859_1));
    }

    @Test
    void smuggledRequestsAreRefused() throws Exception {
        try (Origin origin = rig.origin("http/1.1")) {
            for (String request :
                    List.of(
                            "POST / HTTP/1.1~Host: api.example~Content-Length: 4~"
                                    + "Transfer-Encoding: chunked~~0~~",
                            "POST / HTTP/1.1~Host: api.example~Content-Length: 4~"
                                    + "Content-Length: 5~~abcde",
                            "POST / HTTP/1.1~Host: api.example~Transfer-Encoding: x, chunked~~0~~",
                            "GET / HTTP/1.1~Host: api.example~Host: b.example~~",
                            "CONNECT api.example:443 HTTP/1.1~Host: api.example~~",
                            "GET http://api.example/ HTTP/1.1~Host: api.example~~",
                            "GET / HTTP/1.1~Host: api.example~X : y~~",
                            "PRI * HTTP/2.0~~SM~~")) {
                try (SSLSocket socket = jdk()) {
                    send(socket, request);
                    assertThat(HttpTest.head(socket.getInputStream()))
                            .as(request)
                            .matches("(?s)HTTP/1.1 4(00|21) .*");
                }
            }
            assertThat(origin.seen()).isEmpty();
        }
    }

    @Test
    void aWebSocketPassesBothWays() throws Exception {
        try (Origin _ = rig.origin("http/1.1");
                SSLSocket socket = jdk()) {
            send(
                    socket,
                    "GET /ws HTTP/1.1~Host: api.example~Connection: Upgrade~Upgrade: websocket~~");
            assertThat(HttpTest.head(socket.getInputStream()))
                    .startsWith("HTTP/1.1 101")
                    .contains("pgrade: websocket");
            send(socket, "\u0081\u0005frame");
            assertThat(socket.getInputStream().readNBytes(7)).hasSize(7).endsWith('m', 'e');
        }
    }

    @Test
    void pipelinedRequestsAreAnsweredInOrder() throws Exception {
        try (Origin _ = rig.origin("http/1.1");
                SSLSocket socket = jdk()) {
            String one = "GET /big/10 HTTP/1.1~Host: api.example~~";
            send(socket, one + one + "DELETE /no HTTP/1.1~Host: api.example~~");
            for (int i = 0; i < 2; i++) {
                assertThat(HttpTest.head(socket.getInputStream())).startsWith("HTTP/1.1 200");
                assertThat(socket.getInputStream().readNBytes(10)).hasSize(10);
            }
            assertThat(HttpTest.head(socket.getInputStream())).startsWith("HTTP/1.1 403");
        }
    }

    @Test
    void aPolicyThatChangesEndsOrJudgesWhatIsOpen() throws Exception {
        try (Origin _ = rig.origin("http/1.1");
                SSLSocket socket = jdk()) {
            send(socket, "GET /big/10 HTTP/1.1~Host: api.example~~");
            assertThat(HttpTest.head(socket.getInputStream())).startsWith("HTTP/1.1 200");
            assertThat(socket.getInputStream().readNBytes(10)).hasSize(10);
            rig.rig.bind(
                    1,
                    2,
                    "{\"allow\":[{\"host\":\"api.example\",\"private\":true,\"http\":"
                            + "[{\"path\":\"/other\"}]}]}");
            send(socket, "GET /big/10 HTTP/1.1~Host: api.example~~");
            assertThat(HttpTest.head(socket.getInputStream())).startsWith("HTTP/1.1 403");
        }
    }
}
