package dev.space.bench.gateway;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** One job: all on one loop, so nothing here is locked. */
final class LoadRun {

    private static final int CONNECT_MILLIS_MAX = 10_000;
    private static final int WINDOW_BYTES = 1 << 20;

    private final Job job;
    private final String name;
    private final SslContext tls;
    private final EventLoop loop;
    private final List<Channel> channels = new ArrayList<>();
    private final List<Runnable> ready = new ArrayList<>();
    private final List<Long> times = new ArrayList<>();
    private final CompletableFuture<Figures> result = new CompletableFuture<>();
    private long began;
    private int started;
    private int ok;
    private int failed;
    private long bytes;

    LoadRun(Job job, String name, SslContext tls, EventLoop loop) {
        this.job = job;
        this.name = name;
        this.tls = tls;
        this.loop = loop;
    }

    Figures run() {
        InetSocketAddress to = new InetSocketAddress(job.host(), job.port());
        if (to.isUnresolved()) {
            return new Figures(0, 1, 0, 1, List.of());
        }
        Bootstrap bootstrap =
                new Bootstrap()
                        .group(loop)
                        .channel(EpollSocketChannel.class)
                        .option(ChannelOption.TCP_NODELAY, true)
                        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS_MAX)
                        .handler(new Side());
        for (int i = 0; i < job.connections(); i++) {
            bootstrap
                    .connect(to)
                    .addListener((ChannelFuture f) -> {
                        channels.add(f.channel());
                        if (!f.isSuccess()) {
                            failed();
                        }
                    });
        }
        var _ = loop.schedule(this::end, CONNECT_MILLIS_MAX, TimeUnit.MILLISECONDS);
        return result.join();
    }

    private final class Side extends ChannelInitializer<Channel> {

        @Override
        protected void initChannel(Channel channel) {
            channel.pipeline().addLast(tls.newHandler(channel.alloc(), name, job.port()));
            channel.pipeline().addLast(new Version());
        }
    }

    private final class Version extends ApplicationProtocolNegotiationHandler {

        Version() {
            super("http/1.1");
        }

        @Override
        protected void configurePipeline(ChannelHandlerContext ctx, String protocol) {
            if (!protocol.equals(LoadClient.alpn(job.protocol()))) {
                failed();
            } else if (protocol.equals("h2")) {
                Http2Settings settings =
                        Http2Settings.defaultSettings().initialWindowSize(WINDOW_BYTES);
                ctx.pipeline()
                        .addLast(
                                Http2FrameCodecBuilder.forClient()
                                        .initialSettings(settings)
                                        .build(),
                                new Http2Load(LoadRun.this));
            } else {
                ctx.pipeline().addLast(new HttpClientCodec(), new Http1Load(LoadRun.this));
            }
        }

        @Override
        protected void handshakeFailure(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("load: " + cause);
            failed();
        }
    }

    Job job() {
        return job;
    }

    String name() {
        return name;
    }

    /** A connection is there; when all are, they begin. */
    void ready(Runnable begin) {
        ready.add(begin);
        if (ready.size() == job.connections() && began == 0) {
            began = System.nanoTime();
            var _ = loop.schedule(this::end, job.millisMax(), TimeUnit.MILLISECONDS);
            ready.forEach(Runnable::run);
        }
    }

    /** Whether one more request is to be made. */
    boolean take() {
        if (result.isDone() || started >= job.requestsMax()) {
            return false;
        }
        started++;
        return true;
    }

    void came(int count) {
        bytes += count;
    }

    /** A request is answered. */
    void done(long since, boolean good) {
        if (!good) {
            failed();
            return;
        }
        ok++;
        if (job.connections() * job.streams() == 1) {
            times.add(System.nanoTime() - since);
        }
        endWhenAll();
    }

    /** Something that makes the figures worth less. */
    void failed() {
        failed++;
        if (began == 0) {
            end();
        } else {
            endWhenAll();
        }
    }

    private void endWhenAll() {
        if (ok + failed >= job.requestsMax()) {
            end();
        }
    }

    private void end() {
        // The limit for connecting has nothing to say when all are there.
        boolean connecting = began == 0;
        long nanos = System.nanoTime() - began;
        boolean over =
                connecting
                        || ok + failed >= job.requestsMax()
                        || nanos >= TimeUnit.MILLISECONDS.toNanos(job.millisMax());
        if (!over || result.isDone()) {
            return;
        }
        Figures figures =
                connecting
                        ? new Figures(0, Math.max(1, failed), 0, 1, List.of())
                        : new Figures(ok, failed, bytes, nanos, times);
        boolean _ = result.complete(figures);
        for (Channel channel : channels) {
            var _ = channel.close();
        }
    }
}
