package dev.space.manager;

import dev.space.privileged.Codec;
import dev.space.privileged.FrameChannel;
import dev.space.privileged.RefusalCode;
import dev.space.privileged.Reply;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import jdk.net.ExtendedSocketOptions;
import jdk.net.UnixDomainPrincipal;

/**
 * The socket: one peer user, one request for each connection, so many at once. A connection that is
 * slow or malformed costs itself only.
 */
final class Server implements AutoCloseable {

    private static final Logger LOG = System.getLogger(Server.class.getName());
    private static final int CONNECTIONS_MAX = 32;
    private static final Duration IO_TIMEOUT = Duration.ofSeconds(5);

    private final Worker worker;
    private final Slots slots;
    private final ServerSocketChannel channel;
    private final Semaphore connections = new Semaphore(CONNECTIONS_MAX);

    private Server(Worker worker, Slots slots, ServerSocketChannel channel) {
        this.worker = worker;
        this.slots = slots;
        this.channel = channel;
    }

    /** Binds: the directory is closed until the socket has its owner and mode. */
    static Server bind(Path socket, Worker worker, Slots slots) throws IOException {
        Path directory = socket.getParent();
        if (directory == null) {
            throw new IOException(socket + " has no directory");
        }
        Files.createDirectories(directory);
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
        Files.deleteIfExists(socket);
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        channel.bind(UnixDomainSocketAddress.of(socket), CONNECTIONS_MAX);
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
        Files.setAttribute(socket, "unix:uid", worker.uid());
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
        return new Server(worker, slots, channel);
    }

    /** Until the channel is closed. */
    void serve() throws IOException {
        while (true) {
            connections.acquireUninterruptibly();
            SocketChannel peer;
            try {
                peer = channel.accept();
            } catch (AsynchronousCloseException e) {
                return;
            }
            Thread _ =
                    Thread.ofVirtual()
                            .start(() -> {
                                try {
                                    converse(peer);
                                } finally {
                                    connections.release();
                                }
                            });
        }
    }

    private void converse(SocketChannel peer) {
        try (peer) {
            UnixDomainPrincipal principal = peer.getOption(ExtendedSocketOptions.SO_PEERCRED);
            if (!worker.is(principal.user())) {
                LOG.log(Level.WARNING, "refused a peer that is {0}", principal.user().getName());
                return;
            }
            try (FrameChannel frames = new FrameChannel(peer)) {
                Reply reply = answer(frames.read(IO_TIMEOUT));
                frames.write(Codec.encode(reply), IO_TIMEOUT);
            }
        } catch (IOException e) {
            LOG.log(Level.WARNING, "a connection ended early: {0}", e.getMessage());
        }
    }

    /** Every request gets an answer; only defects are logged with their trace. */
    private Reply answer(byte[] frame) {
        try {
            return slots.handle(Codec.decodeRequest(frame));
        } catch (IllegalArgumentException e) {
            return new Reply.Refused(RefusalCode.INVALID, String.valueOf(e.getMessage()));
        } catch (Refusal e) {
            return new Reply.Refused(e.code(), String.valueOf(e.getMessage()));
        } catch (IOException e) {
            LOG.log(Level.WARNING, "a request failed: {0}", e.toString());
            return new Reply.Refused(RefusalCode.FAILED, String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "a defect", e);
            return new Reply.Refused(RefusalCode.FAILED, "node-manager has a defect: " + e);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
