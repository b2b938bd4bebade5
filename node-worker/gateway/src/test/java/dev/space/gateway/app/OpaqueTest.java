package dev.space.gateway.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.gateway.tcp.Timeouts;
import dev.space.gatewayapi.v1.AddressesRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Connections whose content is nobody's business, and connections that there must not be. */
@Timeout(60)
final class OpaqueTest {

    @TempDir Path directory;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Rig rig;

    @BeforeEach
    void start() throws IOException {
        rig = Rig.with(directory);
        rig.outsideDns.put("a.example", "127.0.0.1");
    }

    @AfterEach
    void stop() {
        rig.close();
    }

    private static String allow(int port) {
        return "{\"allow\":[{\"host\":\"a.example\",\"ports\":[" + port + "],\"private\":true}]}";
    }

    @Test
    void bytesGoBothWaysAndEndsAreEnds() throws Exception {
        try (TestServer echo = TestServer.echo()) {
            rig.bind(allow(echo.port()));
            byte[] data = new byte[5_000_000];
            new Random(1).nextBytes(data);
            try (Socket socket = rig.connect("a.example", echo.port())) {
                Thread writer =
                        Thread.ofVirtual()
                                .start(() -> {
                                    try {
                                        socket.getOutputStream().write(data);
                                        socket.shutdownOutput();
                                    } catch (IOException e) {
                                        throw new UncheckedIOException(e);
                                    }
                                });
                assertThat(socket.getInputStream().readAllBytes()).isEqualTo(data);
                writer.join();
            }
        }
    }

    @Test
    void aShortQuestionWithItsEndAtOnceIsAnswered() throws Exception {
        try (TestServer echo = TestServer.echo()) {
            rig.bind(allow(echo.port()));
            for (int i = 0; i < 50; i++) {
                try (Socket socket = rig.connect("a.example", echo.port())) {
                    socket.getOutputStream().write("hello".getBytes(UTF_8));
                    socket.shutdownOutput();
                    assertThat(socket.getInputStream().readAllBytes())
                            .asString(UTF_8)
                            .isEqualTo("hello");
                }
            }
        }
    }

    @Test
    void aServerMaySpeakFirstAndLeaveFirst() throws Exception {
        try (TestServer server =
                new TestServer(s -> {
                    s.getOutputStream().write("220 hello".getBytes(UTF_8));
                    s.shutdownOutput();
                    assertThat(s.getInputStream().readAllBytes()).hasSize(3);
                })) {
            rig.bind(allow(server.port()));
            try (Socket socket = rig.connect("a.example", server.port())) {
                assertThat(socket.getInputStream().readAllBytes())
                        .asString(UTF_8)
                        .isEqualTo("220 hello");
                socket.getOutputStream().write("end".getBytes(UTF_8));
            }
        }
    }

    @Test
    void whatIsNotAllowedIsResetAndNobodyIsAsked() throws Exception {
        try (TestServer echo = TestServer.echo()) {
            rig.bind(allow(echo.port()));
            assertThat(rig.ask("b.example", 1)[3] & 15).as("REFUSED").isEqualTo(5);
            int a = rig.resolve("a.example");
            assertReset(rig.connectTo(a, echo.port() + 1));
            assertReset(rig.connectTo("198.18.0.77", echo.port()));
            assertReset(rig.connectTo("127.0.0.1", echo.port()));
            assertReset(rig.connectTo("169.254.169.254", 80));
            assertReset(rig.connectTo("10.0.0.1", 80));
            assertThat(echo.accepted()).isZero();
            assertThat(rig.outsideDns.asked()).as("names that left the node").isEmpty();
        }
    }

    @Test
    void aNameDoesNotLeadToForbiddenAddresses() throws Exception {
        try (TestServer echo = TestServer.echo()) {
            String port = "\"ports\":[" + echo.port() + "]";
            rig.bind(
                    "{\"allow\":[{\"host\":\"a.example\","
                            + port
                            + "},{\"host\":\"m.example\",\"private\":true,"
                            + port
                            + "},{\"cidr\":\"0.0.0.0/0\","
                            + port
                            + "}]}");
            rig.outsideDns.put("m.example", "169.254.169.254,198.18.0.1,0.0.0.0,224.0.0.1");
            assertReset(rig.connect("a.example", echo.port()));
            assertReset(rig.connect("m.example", echo.port()));
            assertReset(rig.connectTo("127.0.0.1", echo.port()));
            assertReset(rig.connectTo("10.1.2.3", echo.port()));
            assertThat(echo.accepted()).isZero();
        }
    }

    @Test
    void thePlatformsOwnPortsAreNobodys(@TempDir Path other) throws Exception {
        try (TestServer echo = TestServer.echo();
                TestServer platform = TestServer.echo();
                Rig guarded = new Rig(other, Timeouts.DEFAULT, platform.port())) {
            guarded.outsideDns.put("a.example", "127.0.0.1");
            guarded.bind(
                    "{\"allow\":[{\"host\":\"a.example\",\"private\":true,\"ports\":["
                            + echo.port()
                            + ","
                            + platform.port()
                            + "]}]}");
            assertReset(guarded.connect("a.example", platform.port()));
            assertThat(platform.accepted()).isZero();
            try (Socket socket = guarded.connect("a.example", echo.port())) {
                socket.getOutputStream().write(1);
                assertThat(socket.getInputStream().read()).isEqualTo(1);
            }
        }
    }

    @Test
    void aNewPolicyEndsWhatItDoesNotAllow() throws Exception {
        try (TestServer echo = TestServer.echo()) {
            rig.bind(allow(echo.port()));
            try (Socket socket = rig.connect("a.example", echo.port())) {
                socket.getOutputStream().write(1);
                assertThat(socket.getInputStream().read()).isEqualTo(1);
                rig.bind(1, 2, allow(echo.port()));
                socket.getOutputStream().write(2);
                assertThat(socket.getInputStream().read()).as("still allowed").isEqualTo(2);
                rig.bind(1, 3, "{}");
                assertReset(socket);
            }
            int known =
                    rig.calls()
                            .addresses(AddressesRequest.newBuilder().setSlot(Rig.SLOT).build())
                            .getAddressesCount();
            assertThat(known).as("an address stays its name's").isEqualTo(1);
        }
    }

    @Test
    void aSlowReaderHoldsTheSenderUp() throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        AtomicLong sent = new AtomicLong();
        int total = 64 << 20;
        try (TestServer server =
                new TestServer(s -> {
                    byte[] piece = new byte[64 << 10];
                    for (long n = 0; n < total; n += piece.length) {
                        s.getOutputStream().write(piece);
                        sent.addAndGet(piece.length);
                    }
                    s.shutdownOutput();
                    done.countDown();
                    assertThat(s.getInputStream().read()).isEqualTo(-1);
                })) {
            rig.bind(allow(server.port()));
            try (Socket socket = rig.connect("a.example", server.port())) {
                assertThat(done.await(1, TimeUnit.SECONDS)).as("all sent to nobody").isFalse();
                assertThat(sent.get()).as("held by kernel and gateway").isLessThan(total / 2);
                InputStream in = socket.getInputStream();
                long got = in.transferTo(OutputStream.nullOutputStream());
                assertThat(got).isEqualTo(total);
            }
        }
    }

    static void assertReset(Socket socket) throws IOException {
        try (socket) {
            assertThatThrownBy(
                            () -> {
                                while (socket.getInputStream().read() >= 0) {
                                    // Until it breaks.
                                }
                                throw new AssertionError("an orderly end");
                            })
                    .isInstanceOf(SocketException.class);
        }
    }
}
