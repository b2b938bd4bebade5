package dev.space.manager;

import dev.space.nativeabi.NamespaceSockets;
import dev.space.nativeabi.UnixSocket;
import dev.space.privileged.Codec;
import dev.space.privileged.RefusalCode;
import dev.space.privileged.Reply;
import dev.space.privileged.SocketFrames;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The gateway's socket: one peer user and one request, that for the sockets of a slot. They are
 * opened in the slot's namespace and handed over with the answer.
 */
final class GatewayServer implements AutoCloseable {

    private static final Logger LOG = System.getLogger(GatewayServer.class.getName());
    private static final int CONNECTIONS_MAX = 8;
    private static final Duration IO_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);

    private final Worker gateway;
    private final Slots slots;
    private final UnixSocket listener;
    private final Semaphore connections = new Semaphore(CONNECTIONS_MAX);
    private final CountDownLatch closed = new CountDownLatch(1);

    private GatewayServer(Worker gateway, Slots slots, UnixSocket listener) {
        this.gateway = gateway;
        this.slots = slots;
        this.listener = listener;
    }

    /** Binds and serves; the directory is there, and nobody may pass it before the last step. */
    static GatewayServer start(Path socket, Worker gateway, Slots slots) throws IOException {
        Path directory = socket.getParent();
        if (directory == null) {
            throw new IOException(socket + " has no directory");
        }
        Files.createDirectories(directory);
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
        Files.deleteIfExists(socket);
        UnixSocket listener = UnixSocket.listen(socket, CONNECTIONS_MAX);
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
        Files.setAttribute(socket, "unix:uid", gateway.uid());
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
        GatewayServer server = new GatewayServer(gateway, slots, listener);
        Thread _ = Thread.ofPlatform().name("gateway-socket").daemon().start(server::serve);
        return server;
    }

    private void serve() {
        while (closed.getCount() > 0) {
            connections.acquireUninterruptibly();
            UnixSocket peer = null;
            try {
                peer = listener.accept(LOOK_AGAIN);
            } catch (IOException e) {
                LOG.log(Level.ERROR, "no connection can be accepted: {0}", e.getMessage());
                awaitClose();
            }
            if (peer == null) {
                connections.release();
                continue;
            }
            UnixSocket came = peer;
            // A platform thread: these calls block where the JDK does not know of it.
            Thread _ =
                    Thread.ofPlatform()
                            .name("gateway-request")
                            .daemon()
                            .start(() -> {
                                try {
                                    converse(came);
                                } finally {
                                    connections.release();
                                }
                            });
        }
        listener.close();
    }

    /** Not at once again, as when descriptors have run out; but a close ends it. */
    private void awaitClose() {
        try {
            boolean _ = closed.await(LOOK_AGAIN.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void converse(UnixSocket peer) {
        try (peer) {
            int uid = peer.peerUid();
            if (uid != gateway.uid()) {
                LOG.log(Level.WARNING, "refused a peer on the gateway''s socket: uid {0}", uid);
                return;
            }
            answer(peer, SocketFrames.readPlain(peer, IO_TIMEOUT));
        } catch (IOException e) {
            LOG.log(Level.WARNING, "a gateway''s connection ended early: {0}", e.getMessage());
        }
    }

    private void answer(UnixSocket peer, byte[] frame) throws IOException {
        Reply.Refused refused;
        try {
            int slot = Codec.decodeIssueSockets(frame);
            try (NamespaceSockets sockets = slots.issueSockets(slot)) {
                SocketFrames.write(
                        peer,
                        Codec.encode(new Reply.SocketsIssued(slot)),
                        List.of(sockets.listener(), sockets.datagram()),
                        IO_TIMEOUT);
                return;
            }
        } catch (IllegalArgumentException e) {
            refused = new Reply.Refused(RefusalCode.INVALID, String.valueOf(e.getMessage()));
        } catch (Refusal e) {
            refused = new Reply.Refused(e.code(), String.valueOf(e.getMessage()));
        }
        SocketFrames.write(peer, Codec.encode(refused), List.of(), IO_TIMEOUT);
    }

    /** Serves nobody new, within a second. */
    @Override
    public void close() {
        closed.countDown();
    }
}
