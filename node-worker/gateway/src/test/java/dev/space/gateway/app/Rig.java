package dev.space.gateway.app;

import dev.space.gateway.config.GatewayConfig;
import dev.space.gateway.config.TlsFiles;
import dev.space.gateway.slot.SocketSource;
import dev.space.gateway.tcp.OriginalDestination;
import dev.space.gateway.tcp.Timeouts;
import dev.space.gatewayapi.GatewayChannel;
import dev.space.gatewayapi.v1.BindRequest;
import dev.space.gatewayapi.v1.Binding;
import dev.space.gatewayapi.v1.GatewayGrpc;
import dev.space.gatewayapi.v1.SyntheticAddress;
import dev.space.gatewayapi.v1.UnbindReply;
import dev.space.gatewayapi.v1.UnbindRequest;
import dev.space.model.egress.Ipv4;
import dev.space.vault.VaultSettings;
import io.netty.channel.epoll.Epoll;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The whole gateway without privileges: its slots' sockets are on loopback, and a client says where
 * it was going by its port, which is what the kernel says by SO_ORIGINAL_DST in a real slot.
 */
final class Rig implements AutoCloseable {

    static final String SESSION = "ses_aaaaaaaaaaaaaaaaaaaaaaaaaa";
    static final int SLOT = 3;

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int CONNECTIONS = 2000;

    final TestDns outsideDns = new TestDns();
    final int forbiddenPort;
    private final Path directory;
    private final Map<Integer, OriginalDestination.Place> going = new ConcurrentHashMap<>();
    private final LoopbackSockets sockets = new LoopbackSockets();
    private final Timeouts timeouts;
    private final TlsFiles tls;
    private final Optional<VaultSettings> vault;
    private GatewayProcess process;
    private GatewayChannel channel;

    Rig(Path directory, Timeouts timeouts, int forbiddenPort) throws IOException {
        this(directory, timeouts, forbiddenPort, TlsFiles.NONE, Optional.empty());
    }

    Rig(
            Path directory,
            Timeouts timeouts,
            int forbiddenPort,
            TlsFiles tls,
            Optional<VaultSettings> vault)
            throws IOException {
        this.tls = tls;
        this.vault = vault;
        this.directory = directory;
        this.timeouts = timeouts;
        this.forbiddenPort = forbiddenPort;
        if (!Epoll.isAvailable()) {
            throw new IllegalStateException("no epoll", Epoll.unavailabilityCause());
        }
        process = newProcess();
        channel = GatewayChannel.open(socket());
    }

    static Rig with(Path directory) throws IOException {
        return new Rig(
                directory,
                new Timeouts(Duration.ofMillis(1500), Duration.ofMinutes(1), Duration.ofSeconds(2)),
                1);
    }

    private Path socket() {
        return directory.resolve("control.sock");
    }

    private GatewayProcess newProcess() throws IOException {
        int uid = (int) Files.getAttribute(directory, "unix:uid");
        GatewayConfig config =
                new GatewayConfig(
                        socket(),
                        directory.resolve("unused"),
                        uid,
                        0,
                        List.of(outsideDns.address()),
                        List.of(),
                        Set.of(forbiddenPort),
                        CONNECTIONS,
                        2,
                        tls,
                        vault);
        return new GatewayProcess(
                config,
                sockets,
                timeouts,
                c -> {
                    int port = ((InetSocketAddress) c.remoteAddress()).getPort();
                    OriginalDestination.Place place = going.get(port);
                    if (place == null) {
                        throw new IOException("not redirected");
                    }
                    return place;
                });
    }

    /** As if it had been killed: nobody says good-bye to node-worker. */
    void restart() throws IOException {
        process.close();
        process = newProcess();
        channel.close();
        channel = GatewayChannel.open(socket());
    }

    int httpPort() {
        return process.httpPort();
    }

    GatewayGrpc.GatewayBlockingStub calls() {
        return GatewayGrpc.newBlockingStub(channel.channel())
                .withDeadlineAfter(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                .withWaitForReady();
    }

    void bind(String policy) {
        bind(1, 1, policy);
    }

    void bind(long epoch, long version, String policy, SyntheticAddress... addresses) {
        var _ = calls().bind(request(SESSION, epoch, version, policy, addresses));
    }

    static BindRequest request(
            String session,
            long epoch,
            long version,
            String policy,
            SyntheticAddress... addresses) {
        return BindRequest.newBuilder()
                .setBinding(
                        Binding.newBuilder()
                                .setSlot(SLOT)
                                .setSessionId(session)
                                .setEpoch(epoch)
                                .setPolicyVersion(version))
                .setPolicyJson(policy)
                .addAllAddresses(List.of(addresses))
                .build();
    }

    UnbindReply unbind(long epoch) {
        return calls().unbind(
                        UnbindRequest.newBuilder()
                                .setSlot(SLOT)
                                .setSessionId(SESSION)
                                .setEpoch(epoch)
                                .build());
    }

    /** Asks the slot's DNS; the whole answer. */
    byte[] ask(String name, int type) throws IOException {
        try (DatagramSocket asker = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            asker.setSoTimeout((int) PATIENCE.toMillis());
            byte[] query = TestDns.query(name, type);
            asker.send(new DatagramPacket(query, query.length, sockets.dns()));
            DatagramPacket answer = new DatagramPacket(new byte[512], 512);
            asker.receive(answer);
            return Arrays.copyOf(answer.getData(), answer.getLength());
        }
    }

    /** The name's address in the sandbox; the name must be allowed. */
    int resolve(String name) throws IOException {
        byte[] answer = ask(name, 1);
        if ((answer[3] & 15) != 0 || answer[7] != 1) {
            throw new IOException("no address for " + name);
        }
        return ByteBuffer.wrap(answer, answer.length - 4, 4).getInt();
    }

    /** A connection of the guest to a name that it resolves before. */
    Socket connect(String name, int port) throws IOException {
        return connectTo(resolve(name), port);
    }

    Socket connectTo(String address, int port) throws IOException {
        return connectTo(Ipv4.parse(address), port);
    }

    Socket connectTo(int address, int port) throws IOException {
        Socket socket = new Socket();
        socket.setSoTimeout((int) PATIENCE.toMillis());
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        going.put(socket.getLocalPort(), new OriginalDestination.Place(address, port));
        socket.connect(sockets.tcp());
        return socket;
    }

    @Override
    public void close() {
        channel.close();
        process.close();
        outsideDns.close();
    }

    /** Opens what node-manager would open in the slot's namespace. */
    private static final class LoopbackSockets implements SocketSource {

        private static final int BACKLOG = 512;

        private volatile InetSocketAddress tcp = new InetSocketAddress(0);
        private volatile InetSocketAddress dns = new InetSocketAddress(0);

        @Override
        public Sockets issue(int slot) throws IOException {
            io.netty.channel.unix.Socket listener = io.netty.channel.unix.Socket.newSocketStream();
            InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            listener.bind(any);
            listener.listen(BACKLOG);
            tcp = Objects.requireNonNull(listener.localAddress());
            io.netty.channel.unix.Socket datagram = io.netty.channel.unix.Socket.newSocketDgram();
            datagram.bind(any);
            dns = Objects.requireNonNull(datagram.localAddress());
            return new Sockets(listener.intValue(), datagram.intValue());
        }

        InetSocketAddress tcp() {
            return tcp;
        }

        InetSocketAddress dns() {
            return dns;
        }
    }
}
