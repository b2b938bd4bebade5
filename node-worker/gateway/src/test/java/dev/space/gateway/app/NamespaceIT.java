package dev.space.gateway.app;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The gateway as a sandbox meets it: real clients in a network namespace whose TCP and DNS the
 * packet filter redirects to sockets that were opened there.
 */
@Timeout(180)
final class NamespaceIT {

    private static final String PAGE = "a page of the outside";

    @TempDir Path directory;

    private final String tag = "sgw" + ProcessHandle.current().pid();

    @SuppressWarnings("NullAway.Init") // set before every test
    private NamespaceRig rig;

    @SuppressWarnings("NullAway.Init") // set before every test
    private TestServer web;

    @SuppressWarnings("NullAway.Init") // set before every test
    private String outside;

    @BeforeEach
    void start() throws Exception {
        Assumptions.assumeTrue(
                Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0),
                "needs root: network namespaces");
        for (String tool : List.of("ip", "nft", "curl", "python3")) {
            String found = run(List.of("sh", "-c", "command -v " + tool + " || true"), "");
            Assumptions.assumeFalse(found.isEmpty(), "needs " + tool);
        }
        rig = new NamespaceRig(directory, tag);
        long pid = ProcessHandle.current().pid();
        outside = "127.78." + (pid >> 8 & 255) + "." + (pid & 255);
        rig.outsideDns().put("web.example", outside);
        web = new TestServer(new ServerSocket(80, 100, InetAddress.ofLiteral(outside)), this::page);
    }

    @AfterEach
    void stop() throws Exception {
        if (web != null) {
            web.close();
        }
        if (rig != null) {
            rig.remove();
        }
    }

    private void page(Socket socket) throws IOException {
        while (!HttpTest.head(socket.getInputStream()).isEmpty()) {
            socket.getOutputStream()
                    .write(
                            ("HTTP/1.1 200 OK\r\nContent-Length: "
                                            + PAGE.length()
                                            + "\r\n\r\n"
                                            + PAGE)
                                    .getBytes(ISO_8859_1));
        }
    }

    private static String allow(String more) {
        return "{\"allow\":[{\"host\":\"web.example\",\"private\":true}" + more + "]}";
    }

    @Test
    void whatIsAllowedIsReachedByItsName() throws Exception {
        rig.bind(1, allow(""));
        assertThat(rig.guest("curl", "-sS", "-m", "20", "http://web.example/")).isEqualTo(PAGE);
        assertThat(
                        rig.guest(
                                "python3",
                                "-c",
                                "import urllib.request as u;"
                                        + "print(u.urlopen('http://web.example/').read().decode())"))
                .isEqualTo(PAGE);
        assertThat(rig.outsideDns().asked()).containsOnly("web.example");
    }

    @Test
    void tlsPassesWithTheServersOwnCertificate() throws Exception {
        rig.outsideDns().put("tls.example", outside);
        ServerSocket listener =
                TlsTest.context(directory.resolve("keys"))
                        .getServerSocketFactory()
                        .createServerSocket(443, 100, InetAddress.ofLiteral(outside));
        try (TestServer _ = new TestServer(listener, this::page)) {
            rig.bind(1, allow(",{\"host\":\"tls.example\",\"private\":true}"));
            String[] curl = {"curl", "-sSk", "-m", "20", "https://tls.example/"};
            assertThat(rig.guest(curl)).isEqualTo(PAGE);
            String fronted =
                    rig.guest(
                            "curl",
                            "-sSk",
                            "-m",
                            "20",
                            "--connect-to",
                            "other.example:443:tls.example:443",
                            "https://other.example/");
            assertThat(fronted).as("another SNI").startsWith("curl: (35)");
        }
    }

    @Test
    void nothingElseIsReached() throws Exception {
        rig.bind(1, allow(""));
        assertThat(rig.guest("curl", "-sS", "-m", "20", "http://other.example/"))
                .contains("Could not resolve host");
        int before = web.accepted();
        for (String address : List.of(outside, "169.254.169.254", "1.1.1.1", "10.200.0.1")) {
            assertThat(rig.guest("curl", "-sS", "-m", "20", "http://" + address + "/"))
                    .as(address)
                    .startsWith("curl: (");
        }
        assertThat(
                        rig.guest(
                                "curl",
                                "-sS",
                                "-m",
                                "20",
                                "-H",
                                "Host: x.example",
                                "http://web.example/"))
                .contains("HTTP_HOST_MISMATCH");
        assertThat(rig.guest("curl", "-sS", "-m", "20", "http://web.example:81/"))
                .startsWith("curl: (");
        assertThat(web.accepted()).isEqualTo(before);
    }

    @Test
    void aPolicyChangesAndAGatewayDies() throws Exception {
        rig.bind(1, allow(""));
        String[] curl = {"curl", "-sS", "-m", "20", "http://web.example/"};
        assertThat(rig.guest(curl)).isEqualTo(PAGE);
        String address =
                rig.guest(
                        "python3",
                        "-c",
                        "import socket;print(socket.gethostbyname('web.example'))");
        rig.bind(2, "{}");
        assertThat(rig.guest(curl)).contains("Could not resolve host");
        assertThat(byAddress(address)).startsWith("curl: (");
        rig.restart();
        assertThat(byAddress(address)).as("nobody is there").startsWith("curl: (");
        rig.bind(3, allow(""));
        assertThat(rig.guest(curl)).isEqualTo(PAGE);
        assertThat(byAddress(address)).as("an address that was remembered").isEqualTo(PAGE);
    }

    private String byAddress(String address) throws Exception {
        return rig.guest(
                "curl",
                "-sS",
                "-m",
                "20",
                "--connect-to",
                "web.example:80:" + address + ":80",
                "http://web.example/");
    }

    @Test
    void aStreamEndsInBothDirections() throws Exception {
        try (TestServer echo = TestServer.echo()) {
            rig.outsideDns().put("echo.example", "127.0.0.1");
            rig.bind(
                    1,
                    allow(
                            ",{\"host\":\"echo.example\",\"private\":true,\"ports\":["
                                    + echo.port()
                                    + "]}"));
            String script =
                    "import socket,sys\n"
                            + "s=socket.create_connection(('echo.example',"
                            + echo.port()
                            + "))\n"
                            + "s.sendall(b'x'*100000)\n"
                            + "s.shutdown(socket.SHUT_WR)\n"
                            + "n=0\n"
                            + "while True:\n"
                            + "  b=s.recv(65536)\n"
                            + "  if not b: break\n"
                            + "  n+=len(b)\n"
                            + "print(n)\n";
            assertThat(rig.guest("python3", "-c", script)).isEqualTo("100000");
        }
    }

    /** One program's whole output, of both streams, without its last line's end. */
    static String run(List<String> command, String input) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().write(input.getBytes(UTF_8));
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("%s ends", command).isTrue();
        return output.strip();
    }
}
