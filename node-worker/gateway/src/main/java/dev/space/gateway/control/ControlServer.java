package dev.space.gateway.control;

import io.grpc.BindableService;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** gRPC over a unix socket whose directory keeps others out and whose peer's uid is checked. */
public final class ControlServer implements AutoCloseable {

    private static final int MESSAGE_BYTES_MAX = 4 << 20;
    private static final int CALLS_MAX = 256;
    private static final long CLOSE_SECONDS = 2;

    private final Server server;
    private final ExecutorService calls;

    private ControlServer(Server server, ExecutorService calls) {
        this.server = server;
        this.calls = calls;
    }

    /**
     * Binds and serves.
     *
     * @param socket in a directory that exists; what lies there from a former process is removed
     * @param uid of the one peer that is served
     */
    public static ControlServer open(
            Path socket, int uid, EventLoopGroup loops, BindableService service)
            throws IOException {
        Files.deleteIfExists(socket);
        ExecutorService calls = Executors.newVirtualThreadPerTaskExecutor();
        Server server =
                NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toString()))
                        .channelFactory(() -> PeerCheck.guarded(uid))
                        .bossEventLoopGroup(loops)
                        .workerEventLoopGroup(loops)
                        .executor(calls)
                        .maxInboundMessageSize(MESSAGE_BYTES_MAX)
                        .maxConcurrentCallsPerConnection(CALLS_MAX)
                        .addService(service)
                        .build()
                        .start();
        // Who may come as far as here is the directory's matter, who is served the peer's uid's.
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-rw-rw-"));
        return new ControlServer(server, calls);
    }

    public void awaitEnd() throws InterruptedException {
        server.awaitTermination();
    }

    @Override
    public void close() {
        server.shutdownNow();
        try {
            boolean _ = server.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        calls.close();
    }
}
