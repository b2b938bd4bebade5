package dev.space.gateway.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What the test server says: {@code /echo} gives the request back, {@code /big/N} N bytes, {@code
 * /events} two pieces with a pause, {@code /trailers} a trailer, {@code /gzip} a lie about its
 * coding, {@code /401} refuses what it echoes, {@code /ws} agrees to WebSocket and echoes.
 */
final class OriginAnswers extends ChannelInboundHandlerAdapter {

    private static final int PIECE = 16 << 10;
    private static final long PAUSE_MILLIS = 1500;

    private final List<String> seen;
    private final String version;
    private @Nullable HttpRequest request;
    private @Nullable CompositeByteBuf body;
    private long bodyBytes;
    private boolean frames;
    private int left;

    OriginAnswers(List<String> seen, String version) {
        this.seen = seen;
        this.version = version;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (frames) {
            var _ = ctx.writeAndFlush(msg);
            return;
        }
        if (msg instanceof HttpRequest head) {
            begin(ctx, head);
        }
        if (msg instanceof HttpContent content && body != null) {
            bodyBytes += content.content().readableBytes();
            if (body.readableBytes() < 65_536) {
                body.addComponent(true, content.content().retain());
            }
        }
        boolean last = msg instanceof LastHttpContent;
        if (msg instanceof HttpObject) {
            ReferenceCountUtil.release(msg);
        }
        if (last && request != null) {
            answer(ctx, request);
        }
    }

    private void begin(ChannelHandlerContext ctx, HttpRequest head) {
        request = head;
        body = Unpooled.compositeBuffer();
        bodyBytes = 0;
        StringBuilder text = new StringBuilder(version + " " + head.method() + " " + head.uri());
        head.headers()
                .forEach(h ->
                        text.append('\n').append(h.getKey()).append(": ").append(h.getValue()));
        seen.add(text.toString());
        if (HttpUtil.is100ContinueExpected(head)) {
            var _ =
                    ctx.writeAndFlush(
                            new DefaultFullHttpResponse(
                                    HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
        }
    }

    private void answer(ChannelHandlerContext ctx, HttpRequest asked) {
        String uri = asked.uri();
        if (uri.startsWith("/big/")) {
            left = Integer.parseInt(uri.substring(5));
            HttpResponse response = head();
            response.headers().set("content-length", left);
            var _ = ctx.write(response);
            pump(ctx);
        } else if (uri.equals("/events")) {
            HttpResponse response = head();
            response.headers().set("content-type", "text/event-stream");
            chunked(response);
            var _ = ctx.write(response);
            var _ = ctx.writeAndFlush(new DefaultHttpContent(Origin.text("data: one\n\n")));
            Runnable rest =
                    () -> {
                        var _ =
                                ctx.writeAndFlush(
                                        new DefaultLastHttpContent(Origin.text("data: two\n\n")));
                    };
            var _ = ctx.executor().schedule(rest, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
        } else if (uri.equals("/trailers")) {
            HttpResponse response = head();
            response.headers().set("trailer", "x-sum");
            chunked(response);
            var _ = ctx.write(response);
            DefaultLastHttpContent last = new DefaultLastHttpContent(Origin.text("with trailer"));
            last.trailingHeaders().set("x-sum", "42");
            var _ = ctx.writeAndFlush(last);
        } else if (uri.startsWith("/repo.git/")) {
            git(ctx, uri);
        } else if (uri.equals("/ws")) {
            websocket(ctx);
        } else if (uri.equals("/close")) {
            var _ = ctx.write(head());
            ctx.writeAndFlush(new DefaultLastHttpContent(Origin.text("until the end")))
                    .addListener(ChannelFutureListener.CLOSE);
        } else {
            echo(ctx, uri);
        }
    }

    private void echo(ChannelHandlerContext ctx, String uri) {
        CompositeByteBuf had = body;
        String text =
                seen.getLast()
                        + "\n\n"
                        + (had == null ? "" : had.toString(StandardCharsets.UTF_8))
                        + "\n"
                        + bodyBytes;
        if (had != null) {
            had.release();
            body = null;
        }
        ByteBuf bytes = Origin.text(text);
        DefaultFullHttpResponse response =
                new DefaultFullHttpResponse(
                        HttpVersion.HTTP_1_1,
                        uri.equals("/401")
                                ? HttpResponseStatus.UNAUTHORIZED
                                : HttpResponseStatus.OK,
                        bytes);
        response.headers().set("content-length", bytes.readableBytes());
        response.headers().set("x-echo", uri);
        HttpRequest asked = request;
        if (asked != null && asked.headers().contains("authorization")) {
            response.headers().set("x-authorization", asked.headers().get("authorization"));
        }
        if (uri.equals("/gzip")) {
            response.headers().set("content-encoding", "gzip");
        }
        var _ = ctx.writeAndFlush(response);
    }

    private static HttpResponse head() {
        return new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
    }

    private void chunked(HttpResponse response) {
        if (version.equals("h1")) {
            HttpUtil.setTransferEncodingChunked(response, true);
        }
    }

    /** As much of a repository as a client needs to list its branches. */
    private static void git(ChannelHandlerContext ctx, String uri) {
        String text =
                uri.endsWith("/HEAD")
                        ? "ref: refs/heads/main\n"
                        : "1234567890123456789012345678901234567890\trefs/heads/main\n";
        ByteBuf bytes = Origin.text(text);
        DefaultFullHttpResponse response =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, bytes);
        response.headers().set("content-length", bytes.readableBytes());
        response.headers().set("content-type", "text/plain");
        var _ = ctx.writeAndFlush(response);
    }

    private void websocket(ChannelHandlerContext ctx) {
        HttpResponse response =
                new DefaultFullHttpResponse(
                        HttpVersion.HTTP_1_1, HttpResponseStatus.SWITCHING_PROTOCOLS);
        response.headers().set("connection", "Upgrade").set("upgrade", "websocket");
        frames = true;
        ctx.writeAndFlush(response).addListener(_ -> ctx.pipeline().remove(HttpServerCodec.class));
    }

    /** As fast as it is taken. */
    private void pump(ChannelHandlerContext ctx) {
        while (left > 0 && ctx.channel().isWritable()) {
            int now = Math.min(left, PIECE);
            left -= now;
            var _ =
                    ctx.write(
                            left == 0
                                    ? new DefaultLastHttpContent(
                                            Unpooled.wrappedBuffer(new byte[now]))
                                    : new DefaultHttpContent(
                                            Unpooled.wrappedBuffer(new byte[now])));
        }
        ctx.flush();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable() && left > 0) {
            pump(ctx);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        var _ = ctx.close();
    }
}
