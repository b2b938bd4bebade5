package dev.space.gateway.app;

import dev.space.certificates.Authority;
import dev.space.certificates.Keys;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.KeyPair;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** TLS before a plain server on loopback; every byte inside passes as it is. */
final class TlsFront implements AutoCloseable {

    private static final int BACKLOG = 64;

    private final ServerSocket listener;
    private final int behind;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();

    TlsFront(Authority authority, String name, String address, int port, int behind)
            throws Exception {
        this.behind = behind;
        KeyPair keys = Keys.generate();
        X509Certificate[] chain =
                authority
                        .leaf(name, keys.getPublic(), Instant.now())
                        .toArray(X509Certificate[]::new);
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("server", keys.getPrivate(), new char[0], chain);
        KeyManagerFactory managers = KeyManagerFactory.getInstance("PKIX");
        managers.init(store, new char[0]);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(managers.getKeyManagers(), null, null);
        listener =
                tls.getServerSocketFactory()
                        .createServerSocket(port, BACKLOG, InetAddress.getByName(address));
        var _ = Thread.ofVirtual().start(this::accept);
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                open.add(client);
                Socket server = new Socket(InetAddress.getLoopbackAddress(), behind);
                open.add(server);
                var _ = Thread.ofVirtual().start(() -> pass(client, server));
                var _ = Thread.ofVirtual().start(() -> pass(server, client));
            } catch (IOException closed) {
                // Its clients see that they are not served.
            }
        }
    }

    private void pass(Socket from, Socket to) {
        try (from;
                to) {
            long _ = from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException closed) {
            // By the other direction.
        } finally {
            open.remove(from);
            open.remove(to);
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : open) {
            socket.close();
        }
    }
}
