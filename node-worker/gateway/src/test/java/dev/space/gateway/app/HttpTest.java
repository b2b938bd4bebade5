package dev.space.gateway.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Plain HTTP: what reaches the server, and what the sandbox is told instead. */
@Timeout(60)
final class HttpTest {

    private static final int BODY = 3_000_000;

    @TempDir Path directory;

    private final List<String> served = new CopyOnWriteArrayList<>();

    @SuppressWarnings("NullAway.Init") // set before every test
    private Rig rig;

    @SuppressWarnings("NullAway.Init") // set before every test
    private TestServer server;

    @BeforeEach
    void start() throws IOException {
        rig = Rig.with(directory);
        rig.outsideDns.put("a.example", "127.0.0.1");
        server = new TestServer(this::serve);
        allow("");
    }

    @AfterEach
    void stop() {
        server.close();
        rig.close();
    }

    private void allow(String more) {
        rig.bind(
                1,
                1,
                ("{'allow':[{'host':'a.example','private':true,'ports':["
                                + server.port()
                                + "],'http':[{'methods':['GET','POST'],'path':'/open/*'},"
                                + "{'path':'/ws'}]}]"
                                + more
                                + "}")
                        .replace('\'', '"'));
    }

    /** A server that answers in order and stays open, and agrees to WebSocket on /ws only. */
    private void serve(Socket socket) throws IOException {
        InputStream in = socket.getInputStream();
        OutputStream out = socket.getOutputStream();
        while (true) {
            String head = head(in);
            if (head.isEmpty()) {
                return;
            }
            String line = head.lines().findFirst().orElse("");
            served.add(head);
            if (line.startsWith("GET /ws") && head.contains("pgrade: websocket")) {
                out.write(
                        "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n"
                                .getBytes(ISO_8859_1));
                long _ = in.transferTo(out);
                return;
            }
            int length = length(head);
            byte[] body = in.readNBytes(length);
            byte[] answer =
                    line.contains("/big")
                            ? new byte[BODY]
                            : ("ok " + body.length).getBytes(ISO_8859_1);
            out.write(
                    ("HTTP/1.1 200 OK\r\nContent-Length: " + answer.length + "\r\n\r\n")
                            .getBytes(ISO_8859_1));
            out.write(answer);
        }
    }

    private static int length(String head) {
        return head.lines()
                .filter(l -> l.toLowerCase(Locale.ROOT).startsWith("content-length:"))
                .map(l -> Integer.parseInt(l.substring(15).strip()))
                .findFirst()
                .orElse(0);
    }

    static String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        for (int c = in.read(); c >= 0; c = in.read()) {
            head.append((char) c);
            if (head.length() >= 4 && head.substring(head.length() - 4).equals("\r\n\r\n")) {
                return head.toString();
            }
        }
        return "";
    }

    /** One answer with its body. */
    private static String answer(Socket socket) throws IOException {
        String head = head(socket.getInputStream());
        return head + new String(socket.getInputStream().readNBytes(length(head)), ISO_8859_1);
    }

    private Socket connect() throws IOException {
        return rig.connect("a.example", server.port());
    }

    private void send(Socket socket, String request) throws IOException {
        String host = "Host: a.example:" + server.port();
        socket.getOutputStream()
                .write(request.replace("HOST", host).replace("~", "\r\n").getBytes(ISO_8859_1));
    }

    @Test
    void everyRequestOfAConnectionIsJudged() throws Exception {
        try (Socket socket = connect()) {
            send(socket, "GET /open/a HTTP/1.1~HOST~~");
            assertThat(answer(socket)).startsWith("HTTP/1.1 200").endsWith("ok 0");
            send(socket, "POST /open/b HTTP/1.1~HOST~Content-Length: 5~~hello");
            assertThat(answer(socket)).endsWith("ok 5");
            send(socket, "GET /closed HTTP/1.1~HOST~~");
            assertThat(answer(socket))
                    .startsWith("HTTP/1.1 403")
                    .contains("space-refused: REQUEST_NOT_ALLOWED")
                    .contains("does not allow GET to a.example");
            assertThat(socket.getInputStream().read()).as("the end").isEqualTo(-1);
        }
        assertThat(served).hasSize(2).noneMatch(h -> h.contains("/closed"));
    }

    @Test
    void refusalsOfAFirstRequestReachNobody() throws Exception {
        for (String[] refused :
                new String[][] {
                    {"GET /closed HTTP/1.1~HOST~~", "403"},
                    {"DELETE /open/a HTTP/1.1~HOST~~", "403"},
                    {"GET /open/../closed HTTP/1.1~HOST~~", "403"},
                    {"GET /open/a HTTP/1.1~Host: b.example~~", "403"},
                    {"GET /open/a HTTP/1.1~~", "403"},
                    {"CONNECT a.example:443 HTTP/1.1~HOST~~", "400"},
                    {
                        "POST /open/a HTTP/1.1~HOST~Content-Length: 4~Transfer-Encoding: chunked~~0~~",
                        "400"
                    },
                    {"PRI * HTTP/2.0~~SM~~", "400"},
                    {"GET /open/" + "a".repeat(9000) + " HTTP/1.1~HOST~~", "400"},
                    {"\u0016\u0003\u0001\u0000\u00f1abc~~", "400"}
                }) {
            try (Socket socket = connect()) {
                send(socket, refused[0]);
                assertThat(answer(socket)).as(refused[0]).startsWith("HTTP/1.1 " + refused[1]);
                assertThat(socket.getInputStream().read()).isEqualTo(-1);
            }
        }
        assertThat(served).isEmpty();
        assertThat(server.accepted()).as("connections to the server").isZero();
        assertThat(rig.outsideDns.asked()).isEmpty();
    }

    @Test
    void pipelinedRequestsAreJudgedOneByOne() throws Exception {
        try (Socket socket = connect()) {
            send(socket, "GET /open/1 HTTP/1.1~HOST~~GET /open/2 HTTP/1.1~HOST~~");
            assertThat(answer(socket)).startsWith("HTTP/1.1 200");
            assertThat(answer(socket)).startsWith("HTTP/1.1 200");
        }
        assertThat(served).hasSize(2);
    }

    @Test
    void largeBodiesPassBothWays() throws Exception {
        try (Socket socket = connect()) {
            Thread writer =
                    Thread.ofVirtual()
                            .start(() -> {
                                try {
                                    send(
                                            socket,
                                            "POST /open/big HTTP/1.1~HOST~Content-Length: "
                                                    + BODY
                                                    + "~~");
                                    socket.getOutputStream().write(new byte[BODY]);
                                } catch (IOException e) {
                                    throw new UncheckedIOException(e);
                                }
                            });
            assertThat(answer(socket)).hasSizeGreaterThan(BODY);
            writer.join();
        }
    }

    @Test
    void aWebSocketPassesOnceTheServerAgreed() throws Exception {
        try (Socket socket = connect()) {
            send(socket, "GET /ws HTTP/1.1~HOST~Connection: Upgrade~Upgrade: websocket~~");
            assertThat(head(socket.getInputStream())).startsWith("HTTP/1.1 101");
            socket.getOutputStream().write("\u0081\u0005frame".getBytes(ISO_8859_1));
            assertThat(socket.getInputStream().readNBytes(7)).hasSize(7).endsWith('m', 'e');
            socket.shutdownOutput();
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void withoutTheServersConsentItStaysHttp() throws Exception {
        try (Socket socket = connect()) {
            send(socket, "GET /open/a HTTP/1.1~HOST~Connection: Upgrade~Upgrade: websocket~~");
            assertThat(answer(socket)).startsWith("HTTP/1.1 200");
            send(socket, "GET /closed HTTP/1.1~HOST~~");
            assertThat(answer(socket)).startsWith("HTTP/1.1 403");
        }
        assertThat(served).hasSize(1);
    }

    @Test
    void clientsThatOfferHttp2GoOnWithHttp1() throws Exception {
        try (Socket socket = connect()) {
            send(
                    socket,
                    "GET /open/a HTTP/1.1~HOST~Connection: Upgrade, HTTP2-Settings~"
                            + "Upgrade: h2c~HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA~~");
            assertThat(answer(socket)).startsWith("HTTP/1.1 200");
        }
        assertThat(served.getFirst()).doesNotContain("h2c");
    }

    @Test
    void whatCannotBeReachedIsExplained() throws Exception {
        server.close();
        try (Socket socket = connect()) {
            send(socket, "GET /open/a HTTP/1.1~HOST~~");
            assertThat(answer(socket)).startsWith("HTTP/1.1 502").contains("CONNECT_FAILED");
        }
        rig.outsideDns.put("a.example", "169.254.169.254");
        try (Rig other = freshRig()) {
            other.outsideDns.put("a.example", "169.254.169.254");
            other.bind("{\"allow\":[{\"host\":\"a.example\",\"private\":true}]}");
            try (Socket socket = other.connect("a.example", 80)) {
                socket.getOutputStream()
                        .write("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n".getBytes(ISO_8859_1));
                assertThat(answer(socket)).startsWith("HTTP/1.1 403").contains("ADDRESS_FORBIDDEN");
            }
            other.bind(1, 2, "{\"allow\":[{\"host\":\"gone.example\"}]}");
            try (Socket socket = other.connect("gone.example", 80)) {
                socket.getOutputStream()
                        .write("GET / HTTP/1.1\r\nHost: gone.example\r\n\r\n".getBytes(ISO_8859_1));
                assertThat(answer(socket)).startsWith("HTTP/1.1 502").contains("NAME_UNRESOLVED");
            }
        }
    }

    private Rig freshRig() throws IOException {
        return Rig.with(Files.createDirectory(directory.resolve("other")));
    }

    @Test
    void tooManyRequestsAreTold() throws Exception {
        allow(",'limits':{'requestsPerSecond':2}");
        int refused = 0;
        try (Socket socket = connect()) {
            for (int i = 0; i < 5 && refused == 0; i++) {
                send(socket, "GET /open/a HTTP/1.1~HOST~~");
                refused += answer(socket).startsWith("HTTP/1.1 429") ? 1 : 0;
            }
        }
        assertThat(refused).isEqualTo(1);
    }

    @Test
    void aDryRunPassesWhatItWouldRefuse() throws Exception {
        allow(",'dryRun':true");
        try (Socket socket = connect()) {
            send(socket, "GET /closed HTTP/1.1~HOST~~");
            assertThat(answer(socket)).startsWith("HTTP/1.1 200");
        }
        assertThat(served).hasSize(1);
    }

    @Test
    void aHeadThatNeverEndsIsGivenUp() throws Exception {
        try (Socket socket = connect()) {
            send(socket, "GET /open/a HTTP/1.1~HOST~X: ");
            OpaqueTest.assertReset(socket);
        }
        assertThat(server.accepted()).isZero();
    }
}
