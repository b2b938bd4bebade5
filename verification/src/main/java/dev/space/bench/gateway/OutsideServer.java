package dev.space.bench.gateway;

import dev.space.certificates.Authority;
import dev.space.certificates.Keys;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * The outside, as a process in a network namespace: HTTPS on port 443 (HTTP/1.1 and HTTP/2) and a
 * DNS server that knows one name. {@code /N} is N bytes; {@code /key/N} too, for who sends the
 * credential, and 403 for others.
 */
public final class OutsideServer {

    static final int BYTES_MAX = 16 << 20;
    static final String READY = "ready";
    private static final int PORT = 443;
    private static final int BACKLOG = 512;
    private static final String WITH_KEY = "/key/";

    private final ByteBuf body;
    private final String authorization;

    private OutsideServer(String authorization) {
        this.authorization = authorization;
        byte[] bytes = new byte[BYTES_MAX];
        new Random(1).nextBytes(bytes);
        body =
                Unpooled.unreleasableBuffer(
                        Unpooled.directBuffer(BYTES_MAX).writeBytes(bytes).asReadOnly());
    }

    /** The server's name, and where its root goes; the credential comes on standard input. */
    public static void main(String[] arguments) throws Exception {
        String name = arguments[0];
        String authorization =
                new String(
                        System.in.readNBytes(Integer.parseInt(arguments[2])),
                        StandardCharsets.UTF_8);
        NameServer.start(name);
        Channel listening =
                new OutsideServer(authorization).listen(tls(name, Path.of(arguments[1])));
        System.out.println(READY);
        // Who started it ends it by the end of its standard input.
        while (System.in.read() >= 0) {}
        listening.close().sync();
        System.exit(0);
    }

    private static SslContext tls(String name, Path root) throws IOException {
        Authority authority = Authority.root(Instant.now());
        Files.writeString(root, authority.chainPem());
        KeyPair keys = Keys.generate();
        X509Certificate[] chain =
                authority
                        .leaf(name, keys.getPublic(), Instant.now())
                        .toArray(X509Certificate[]::new);
        return SslContextBuilder.forServer(keys.getPrivate(), chain)
                .applicationProtocolConfig(
                        new ApplicationProtocolConfig(
                                Protocol.ALPN,
                                SelectorFailureBehavior.NO_ADVERTISE,
                                SelectedListenerFailureBehavior.ACCEPT,
                                "h2",
                                "http/1.1"))
                .build();
    }

    private Channel listen(SslContext tls) throws InterruptedException {
        EventLoopGroup loops = new EpollEventLoopGroup(1);
        return new ServerBootstrap()
                .group(loops)
                .channel(EpollServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(
                        new ChannelInitializer<Channel>() {
                            @Override
                            protected void initChannel(Channel channel) {
                                channel.pipeline()
                                        .addLast(tls.newHandler(channel.alloc()))
                                        .addLast(new Version());
                            }
                        })
                .bind(new InetSocketAddress(PORT))
                .sync()
                .channel();
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
                                new Http2Answers(OutsideServer.this));
            } else {
                ctx.pipeline().addLast(new HttpServerCodec(), new Http1Answers(OutsideServer.this));
            }
        }
    }

    /** The whole body for a request, or null where it is refused. */
    @Nullable ByteBuf answer(String path, @Nullable CharSequence given) {
        boolean withKey = path.startsWith(WITH_KEY);
        if (withKey && (given == null || !authorization.contentEquals(given))) {
            return null;
        }
        int length = Integer.parseInt(path.substring(withKey ? WITH_KEY.length() : 1));
        return body.slice(0, Math.min(length, BYTES_MAX));
    }
}
