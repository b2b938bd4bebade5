package dev.space.bench.gateway;

import dev.space.nativeabi.NamespaceSockets;
import dev.space.nativeabi.UnixSocket;
import dev.space.privileged.Codec;
import dev.space.privileged.PrivilegedLimits;
import dev.space.privileged.Reply;
import dev.space.privileged.SocketFrames;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** What node-manager does for a gateway: opens a slot's sockets in its namespace. */
final class SlotSocketsServer implements AutoCloseable {

    private static final Duration IO_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration LOOK_AGAIN = Duration.ofMillis(500);
    private static final int BACKLOG = 8;

    private final Path namespace;
    private final UnixSocket listener;
    private volatile boolean closed;

    private SlotSocketsServer(Path namespace, UnixSocket listener) {
        this.namespace = namespace;
        this.listener = listener;
    }

    static SlotSocketsServer start(Path socket, Path namespace) throws IOException {
        SlotSocketsServer server =
                new SlotSocketsServer(namespace, UnixSocket.listen(socket, BACKLOG));
        // A platform thread: these calls block where the JDK does not know of it.
        Thread _ = Thread.ofPlatform().name("slot-sockets").daemon().start(server::serve);
        return server;
    }

    private void serve() {
        while (!closed) {
            try (UnixSocket peer = listener.accept(LOOK_AGAIN)) {
                if (peer != null) {
                    answer(peer);
                }
            } catch (IOException e) {
                System.err.println("space: the gateway got no sockets: " + e.getMessage());
            }
        }
        listener.close();
    }

    private void answer(UnixSocket peer) throws IOException {
        int slot = Codec.decodeIssueSockets(SocketFrames.readPlain(peer, IO_TIMEOUT));
        try (NamespaceSockets sockets =
                NamespaceSockets.open(
                        namespace,
                        PrivilegedLimits.EGRESS_TCP_PORT,
                        PrivilegedLimits.EGRESS_BACKLOG,
                        PrivilegedLimits.EGRESS_DNS_PORT)) {
            SocketFrames.write(
                    peer,
                    Codec.encode(new Reply.SocketsIssued(slot)),
                    List.of(sockets.listener(), sockets.datagram()),
                    IO_TIMEOUT);
        }
    }

    @Override
    public void close() {
        closed = true;
    }
}
