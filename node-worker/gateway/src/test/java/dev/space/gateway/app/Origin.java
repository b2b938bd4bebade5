package dev.space.gateway.app;

import dev.space.certificates.Authority;
import dev.space.certificates.Keys;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.net.InetSocketAddress;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** A server of the outside with TLS, HTTP/1.1 and HTTP/2. */
final class Origin implements AutoCloseable {

    private final EventLoopGroup loops = new EpollEventLoopGroup(1);
    private final List<String> seen = new CopyOnWriteArrayList<>();
    private final Channel listener;

    /** What servers' certificates come from. */
    Origin(Authority authority, String name, String address, int port, String... protocols)
            throws Exception {
        KeyPair keys = Keys.generate();
        List<X509Certificate> chain = authority.leaf(name, keys.getPublic(), Instant.now());
        SslContext tls =
                SslContextBuilder.forServer(
                                keys.getPrivate(), chain.toArray(X509Certificate[]::new))
                        .applicationProtocolConfig(
                                new ApplicationProtocolConfig(
                                        ApplicationProtocolConfig.Protocol.ALPN,
                                        ApplicationProtocolConfig.SelectorFailureBehavior
                                                .NO_ADVERTISE,
                                        ApplicationProtocolConfig.SelectedListenerFailureBehavior
                                                .ACCEPT,
                                        protocols))
                        .build();
        listener =
                new ServerBootstrap()
                        .group(loops)
                        .channel(EpollServerSocketChannel.class)
                        .childHandler(
                                new ChannelInitializer<Channel>() {
                                    @Override
                                    protected void initChannel(Channel channel) {
                                        channel.pipeline()
                                                .addLast(tls.newHandler(channel.alloc()))
                                                .addLast(new Version());
                                    }
                                })
                        .bind(new InetSocketAddress(address, port))
                        .sync()
                        .channel();
    }

    int port() {
        return ((InetSocketAddress) listener.localAddress()).getPort();
    }

    /** Each request as a line and its headers. */
    List<String> seen() {
        return seen;
    }

    private final class Version extends ApplicationProtocolNegotiationHandler {

        Version() {
            super("http/1.1");
        }

        @Override
        protected void configurePipeline(ChannelHandlerContext ctx, String protocol) {
            if (protocol.equals("h2")) {
                ctx.pipeline()
                        .addLast(
                                Http2FrameCodecBuilder.forServer().build(),
                                new Http2MultiplexHandler(
                                        new ChannelInitializer<Channel>() {
                                            @Override
                                            protected void initChannel(Channel stream) {
                                                stream.pipeline()
                                                        .addLast(
                                                                new Http2StreamFrameToHttpObjectCodec(
                                                                        true),
                                                                new OriginAnswers(seen, "h2"));
                                            }
                                        }));
            } else {
                ctx.pipeline().addLast(new HttpServerCodec(), new OriginAnswers(seen, "h1"));
            }
        }
    }

    static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, java.nio.charset.StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        listener.close().awaitUninterruptibly(5, TimeUnit.SECONDS);
        var _ = loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
