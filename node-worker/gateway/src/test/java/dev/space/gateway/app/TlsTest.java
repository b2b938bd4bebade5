package dev.space.gateway.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** TLS passes as it is when it names whom it was resolved for, and not otherwise. */
@Timeout(60)
final class TlsTest {

    private static final String NAME = "tls.example";
    private static final char[] PASSWORD = "changeit".toCharArray();

    @TempDir static Path keys;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private static SSLContext context;

    @TempDir Path directory;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Rig rig;

    @SuppressWarnings("NullAway.Init") // set before every test
    private TestServer server;

    @BeforeAll
    static void certificate() throws Exception {
        context = context(keys.resolve("keys"));
    }

    /** A server's own certificate for the name, which its clients trust. */
    static SSLContext context(Path store) throws Exception {
        Process keytool =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin/keytool").toString(),
                                "-genkeypair",
                                "-keyalg",
                                "EC",
                                "-alias",
                                "a",
                                "-dname",
                                "CN=" + NAME,
                                "-ext",
                                "san=dns:" + NAME,
                                "-keystore",
                                store.toString(),
                                "-storetype",
                                "PKCS12",
                                "-storepass",
                                new String(PASSWORD))
                        .redirectErrorStream(true)
                        .start();
        assertThat(keytool.waitFor(30, TimeUnit.SECONDS)).isTrue();
        KeyStore all = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            all.load(in, PASSWORD);
        }
        KeyManagerFactory own =
                KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(all, PASSWORD);
        TrustManagerFactory trusted =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(all);
        SSLContext made = SSLContext.getInstance("TLS");
        made.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
        return made;
    }

    @BeforeEach
    void start() throws IOException {
        rig = Rig.with(directory);
        String own = ownLoopback();
        rig.outsideDns.put(NAME, own);
        server =
                new TestServer(
                        listenOn443(own),
                        s -> {
                            long _ = s.getInputStream().transferTo(s.getOutputStream());
                        });
        rig.bind(policy(""));
    }

    /** An address of this machine that no other run of this test has. */
    private static String ownLoopback() {
        long pid = ProcessHandle.current().pid();
        return "127.77." + (pid >> 8 & 255) + "." + (pid & 255);
    }

    private static ServerSocket listenOn443(String address) throws IOException {
        try {
            return context.getServerSocketFactory()
                    .createServerSocket(443, 100, InetAddress.ofLiteral(address));
        } catch (SocketException e) {
            Assumptions.abort("only root may listen on port 443 here: " + e.getMessage());
            throw e;
        }
    }

    private static String policy(String more) {
        return "{\"allow\":[{\"host\":\"" + NAME + "\",\"private\":true}]" + more + "}";
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
        }
        rig.close();
    }

    private Socket connect() throws IOException {
        return rig.connect(NAME, 443);
    }

    private static void exchange(Socket plain, List<String> names) throws IOException {
        try (SSLSocket tls =
                (SSLSocket) context.getSocketFactory().createSocket(plain, NAME, 443, true)) {
            SSLParameters parameters = tls.getSSLParameters();
            parameters.setServerNames(
                    names.stream().map(n -> (SNIServerName) new SNIHostName(n)).toList());
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            tls.setSSLParameters(parameters);
            tls.startHandshake();
            tls.getOutputStream().write("hello".getBytes(UTF_8));
            assertThat(tls.getInputStream().readNBytes(5)).asString(UTF_8).isEqualTo("hello");
        }
    }

    @Test
    void theServersOwnCertificateIsSeen() throws Exception {
        exchange(connect(), List.of(NAME));
        exchange(connect(), List.of("TLS.example"));
        assertThat(server.accepted()).isEqualTo(2);
    }

    @Test
    void anotherNameOrNoneOrNoTlsIsReset() throws Exception {
        for (List<String> names : List.of(List.of("b.example"), List.<String>of())) {
            Socket plain = connect();
            assertThat(handshakeFails(plain, names)).as("%s", names).isTrue();
        }
        for (String noise :
                List.of("GET / HTTP/1.1\r\nHost: tls.example\r\n\r\n", "SSH-2.0-x\r\n", "\0\0")) {
            Socket socket = connect();
            socket.getOutputStream().write(noise.getBytes(UTF_8));
            OpaqueTest.assertReset(socket);
        }
        assertThat(server.accepted()).as("connections to the server").isZero();
    }

    private static boolean handshakeFails(Socket plain, List<String> names) {
        try {
            exchange(plain, names);
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    @Test
    void aClientThatSaysNothingIsGivenUp() throws Exception {
        Socket socket = connect();
        socket.getOutputStream().write(new byte[] {22, 3, 1, 0});
        OpaqueTest.assertReset(socket);
        assertThat(server.accepted()).isZero();
    }

    @Test
    void aDryRunOnlyRecordsTheWrongName() throws Exception {
        rig.bind(1, 2, policy(",\"dryRun\":true"));
        assertThat(handshakeFails(connect(), List.of("b.example"))).isFalse();
    }
}
