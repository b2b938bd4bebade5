package dev.space.bench.gateway;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2ChannelDuplexHandler;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2FrameStream;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.util.ReferenceCountUtil;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One connection of HTTP/2: several requests at once. */
final class Http2Load extends Http2ChannelDuplexHandler {

    /** Besides the 64 KiB that a connection has: no server waits for this client's window. */
    private static final int MORE_WINDOW_BYTES = 16 << 20;

    private final LoadRun run;
    private final Map<Http2FrameStream, Asked> asked = new HashMap<>();

    /** One request. */
    private static final class Asked {
        final long since = System.nanoTime();
        boolean good;
    }

    Http2Load(LoadRun run) {
        this.run = run;
    }

    @Override
    protected void handlerAdded0(ChannelHandlerContext ctx) {
        var _ = ctx.writeAndFlush(new DefaultHttp2WindowUpdateFrame(MORE_WINDOW_BYTES));
        run.ready(() -> {
            for (int i = 0; i < run.job().streams(); i++) {
                ask(ctx);
            }
            ctx.flush();
        });
    }

    private void ask(ChannelHandlerContext ctx) {
        if (!run.take()) {
            return;
        }
        Http2Headers headers =
                new DefaultHttp2Headers()
                        .method("GET")
                        .scheme("https")
                        .authority(run.name())
                        .path(run.job().path());
        if (!run.job().authorization().equals(Job.NONE)) {
            headers.set(HttpHeaderNames.AUTHORIZATION, run.job().authorization());
        }
        Http2FrameStream stream = newStream();
        asked.put(stream, new Asked());
        var _ = ctx.write(new DefaultHttp2HeadersFrame(headers, true).stream(stream));
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object frame) {
        try {
            switch (frame) {
                case Http2HeadersFrame headers -> {
                    Asked one = asked.get(headers.stream());
                    if (one != null) {
                        one.good = "200".contentEquals(headers.headers().status());
                        if (headers.isEndStream()) {
                            answered(ctx, headers.stream(), one.good);
                        }
                    }
                }
                case Http2DataFrame data -> {
                    run.came(data.content().readableBytes());
                    int taken = data.initialFlowControlledBytes();
                    var _ =
                            ctx.write(
                                    new DefaultHttp2WindowUpdateFrame(taken).stream(data.stream()));
                    Asked one = asked.get(data.stream());
                    if (one != null && data.isEndStream()) {
                        answered(ctx, data.stream(), one.good);
                    }
                }
                case Http2ResetFrame reset -> answered(ctx, reset.stream(), false);
                case Http2GoAwayFrame away when away.errorCode() != 0 -> run.failed();
                default -> {}
            }
        } finally {
            ReferenceCountUtil.release(frame);
        }
    }

    private void answered(ChannelHandlerContext ctx, @Nullable Http2FrameStream stream, boolean g) {
        Asked one = asked.remove(stream);
        if (one != null) {
            run.done(one.since, g);
            ask(ctx);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        ctx.flush();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        for (int i = 0; i < asked.size(); i++) {
            run.failed();
        }
        asked.clear();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        var _ = ctx.close();
    }
}
