package dev.space.gateway.app;

import dev.space.gateway.config.GatewayConfig;
import dev.space.gateway.control.ControlServer;
import dev.space.gateway.control.ControlService;
import dev.space.gateway.credential.Sources;
import dev.space.gateway.credential.TokenClient;
import dev.space.gateway.credential.Unsealer;
import dev.space.gateway.credential.VaultSource;
import dev.space.gateway.events.EventQueue;
import dev.space.gateway.events.Totals;
import dev.space.gateway.net.Reach;
import dev.space.gateway.net.ThisMachine;
import dev.space.gateway.net.Upstream;
import dev.space.gateway.slot.Settings;
import dev.space.gateway.slot.SlotTable;
import dev.space.gateway.slot.SocketSource;
import dev.space.gateway.tcp.OriginalDestination;
import dev.space.gateway.tcp.Timeouts;
import dev.space.gateway.tls.OutsideTls;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The whole process. It keeps nothing on disk: after a start nothing is bound, so nothing passes
 * until node-worker has said again who is who.
 */
public final class GatewayProcess implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GatewayProcess.class);

    private static final int EVENTS_MAX = 16_384;
    private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final long CLOSE_SECONDS = 2;

    private final EpollEventLoopGroup data;
    private final EpollEventLoopGroup doors;
    private final Upstream upstream;
    private final VaultSource vault;
    private final SlotTable slots;
    private final ControlServer control;
    private final HealthServer health;

    public GatewayProcess(GatewayConfig config, SocketSource sockets) throws IOException {
        this(config, sockets, Timeouts.DEFAULT, OriginalDestination.KERNEL);
    }

    /** With what a test does in another way. */
    public GatewayProcess(
            GatewayConfig config,
            SocketSource sockets,
            Timeouts timeouts,
            OriginalDestination destination)
            throws IOException {
        data = new EpollEventLoopGroup(config.threads(), new DefaultThreadFactory("data", true));
        doors = new EpollEventLoopGroup(1, new DefaultThreadFactory("control", true));
        Reach reach = new Reach(config.denied(), config.platformPorts(), new ThisMachine());
        upstream = new Upstream(config.resolvers(), RESOLVE_TIMEOUT, CONNECT_TIMEOUT, reach);
        vault = VaultSource.open(config.vault());
        EventQueue events = new EventQueue(UUID.randomUUID().toString(), EVENTS_MAX);
        Totals totals = new Totals();
        OutsideTls outside = OutsideTls.open(config.tls().extraRoots());
        slots =
                new SlotTable(
                        data,
                        sockets,
                        new Settings(
                                config.connections(),
                                timeouts,
                                destination,
                                config.tls().authority(),
                                outside,
                                new Sources(
                                        Unsealer.open(config.tls().keyset()),
                                        vault,
                                        new TokenClient(data, upstream, outside))),
                        upstream,
                        events,
                        totals);
        control =
                ControlServer.open(
                        config.controlSocket(),
                        config.workerUid(),
                        doors,
                        new ControlService(slots, events));
        health = new HealthServer(config.httpPort(), Metrics.of(totals, events, slots));
        LOG.info("the gateway serves uid {}, health on port {}", config.workerUid(), health.port());
    }

    public int httpPort() {
        return health.port();
    }

    public void awaitEnd() throws InterruptedException {
        control.awaitEnd();
    }

    /** Nobody is let in, then every connection ends. */
    @Override
    public void close() {
        control.close();
        slots.close();
        health.close();
        upstream.close();
        vault.close();
        var _ = data.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS);
        var _ = doors.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS);
    }
}
