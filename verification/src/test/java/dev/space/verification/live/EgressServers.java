package dev.space.verification.live;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

/** What a guest may reach in tests: HTTP, HTTPS and another port on a loopback address, and DNS. */
final class EgressServers implements AutoCloseable {

    /** An address of this process alone on this machine: its usual ports are nobody's. */
    static final String ADDRESS = address(ProcessHandle.current().pid());

    private static final char[] PASSWORD = "changeit".toCharArray();
    private static final Duration KEYTOOL_MAX = Duration.ofSeconds(60);

    private final List<HttpServer> servers = new ArrayList<>();
    private final DatagramSocket dns;
    private final Path directory;

    /** Names that were asked of the resolver. */
    final Set<String> asked = ConcurrentHashMap.newKeySet();

    final AtomicInteger requests = new AtomicInteger();

    /** What came in the header that credentials are put into, in order; empty where none came. */
    final List<String> authorizations = new CopyOnWriteArrayList<>();

    /** What was asked for, in order. */
    final List<String> paths = new CopyOnWriteArrayList<>();

    private static String address(long pid) {
        return "127.77.%d.%d".formatted(pid / 200 % 200, 1 + pid % 200);
    }

    EgressServers() throws Exception {
        directory = Files.createTempDirectory("space-egress-it");
        dns = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Thread _ = Thread.ofPlatform().name("test-dns").daemon().start(this::answer);
        serve(HttpServer.create(new InetSocketAddress(ADDRESS, 80), 0));
        serve(HttpServer.create(new InetSocketAddress(ADDRESS, 8081), 0));
        HttpsServer https = HttpsServer.create(new InetSocketAddress(ADDRESS, 443), 0);
        https.setHttpsConfigurator(new HttpsConfigurator(context()));
        serve(https);
    }

    /** Its own authority, in PEM. */
    Path certificate() {
        return directory.resolve("certificate.pem");
    }

    int dnsPort() {
        return dns.getLocalPort();
    }

    private void serve(HttpServer server) {
        server.createContext(
                "/",
                exchange -> {
                    requests.incrementAndGet();
                    paths.add(exchange.getRequestURI().toString());
                    String given = exchange.getRequestHeaders().getFirst("Authorization");
                    authorizations.add(given == null ? "" : given);
                    // Whatever it is told it says again, as servers' error pages do.
                    byte[] body =
                            ("served " + exchange.getRequestURI() + " for " + given + "\n")
                                    .getBytes(StandardCharsets.UTF_8);
                    String elsewhere = exchange.getRequestURI().getQuery();
                    boolean redirects = exchange.getRequestURI().getPath().equals("/redirect");
                    if (redirects) {
                        exchange.getResponseHeaders()
                                .set("Location", "http://" + elsewhere + "/escape");
                    }
                    exchange.sendResponseHeaders(redirects ? 302 : 200, body.length);
                    exchange.getResponseBody().write(body);
                    exchange.close();
                });
        server.start();
        servers.add(server);
    }

    private SSLContext context() throws Exception {
        Path store = directory.resolve("keys.p12");
        Process keytool =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin/keytool").toString(),
                                "-genkeypair",
                                "-alias",
                                "test",
                                "-keyalg",
                                "EC",
                                "-dname",
                                "CN=ok.test",
                                "-ext",
                                "san=dns:ok.test",
                                "-storetype",
                                "PKCS12",
                                "-storepass",
                                new String(PASSWORD),
                                "-keystore",
                                store.toString())
                        .inheritIO()
                        .start();
        if (!keytool.waitFor(KEYTOOL_MAX.toSeconds(), TimeUnit.SECONDS)) {
            throw new IOException("keytool takes too long");
        }
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD);
        }
        Files.writeString(
                certificate(),
                "-----BEGIN CERTIFICATE-----\n"
                        + Base64.getMimeEncoder()
                                .encodeToString(keys.getCertificate("test").getEncoded())
                        + "\n-----END CERTIFICATE-----\n");
        KeyManagerFactory managers =
                KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        return context;
    }

    /** The first bytes of a TLS connection to this name, in hexadecimal. */
    static String clientHello(String name) throws Exception {
        SSLEngine engine = SSLContext.getDefault().createSSLEngine();
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setServerNames(List.of(new SNIHostName(name)));
        engine.setSSLParameters(parameters);
        ByteBuffer out = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        var _ = engine.wrap(ByteBuffer.allocate(0), out);
        byte[] hello = new byte[out.flip().remaining()];
        out.get(hello);
        return java.util.HexFormat.of().formatHex(hello);
    }

    /** Every A query is answered with the one address. */
    private void answer() {
        byte[] buffer = new byte[1500];
        while (!dns.isClosed()) {
            DatagramPacket query = new DatagramPacket(buffer, buffer.length);
            try {
                dns.receive(query);
                byte[] reply = reply(ByteBuffer.wrap(buffer, 0, query.getLength()));
                dns.send(new DatagramPacket(reply, reply.length, query.getSocketAddress()));
            } catch (IOException e) {
                if (!dns.isClosed()) {
                    throw new java.io.UncheckedIOException(e);
                }
            }
        }
    }

    private byte[] reply(ByteBuffer query) throws IOException {
        StringBuilder name = new StringBuilder();
        int at = 12;
        while (query.get(at) != 0) {
            int length = query.get(at);
            for (int i = 1; i <= length; i++) {
                name.append((char) query.get(at + i));
            }
            name.append('.');
            at += length + 1;
        }
        asked.add(name.toString());
        int end = at + 5;
        boolean isA = query.getShort(at + 1) == 1;
        ByteBuffer reply = ByteBuffer.allocate(end + 16);
        reply.putShort(query.getShort(0)).putShort((short) 0x8180).putShort((short) 1);
        reply.putShort((short) (isA ? 1 : 0)).putInt(0);
        reply.put(query.slice(12, end - 12));
        if (isA) {
            reply.putShort((short) 0xC00C).putShort((short) 1).putShort((short) 1);
            reply.putInt(60).putShort((short) 4);
            reply.put(InetAddress.ofLiteral(ADDRESS).getAddress());
        }
        byte[] bytes = new byte[reply.flip().remaining()];
        reply.get(bytes);
        return bytes;
    }

    @Override
    public void close() throws IOException {
        servers.forEach(server -> server.stop(0));
        dns.close();
        Files.deleteIfExists(directory.resolve("keys.p12"));
        Files.deleteIfExists(certificate());
        Files.deleteIfExists(directory);
    }
}
