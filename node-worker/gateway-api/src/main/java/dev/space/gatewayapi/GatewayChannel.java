package dev.space.gatewayapi;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A channel to the gateway on this machine. A gateway that was away is found when it is called. */
public final class GatewayChannel implements AutoCloseable {

    private static final int MESSAGE_BYTES_MAX = 4 << 20;
    private static final long CLOSE_SECONDS = 2;

    private final EventLoopGroup loop;
    private final ManagedChannel channel;

    private GatewayChannel(EventLoopGroup loop, ManagedChannel channel) {
        this.loop = loop;
        this.channel = channel;
    }

    /** Connects at the first call. */
    public static GatewayChannel open(Path socket) {
        EventLoopGroup loop =
                new EpollEventLoopGroup(1, new DefaultThreadFactory("gateway-channel", true));
        ManagedChannel channel =
                NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toString()))
                        .overrideAuthority("gateway")
                        .eventLoopGroup(loop)
                        .channelType(EpollDomainSocketChannel.class)
                        .usePlaintext()
                        .maxInboundMessageSize(MESSAGE_BYTES_MAX)
                        .disableRetry()
                        .build();
        return new GatewayChannel(loop, channel);
    }

    /**
     * For stubs. A caller that waits for a gateway that is away calls resetConnectBackoff first.
     */
    public ManagedChannel channel() {
        return channel;
    }

    @Override
    public void close() {
        channel.shutdownNow();
        var _ = loop.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS);
    }
}
