package dev.space.bench.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;

/** Answers on one connection of HTTP/1.1, as fast as they are taken. */
final class Http1Answers extends SimpleChannelInboundHandler<HttpObject> {

    private static final int PIECE_BYTES = 64 << 10;

    private final OutsideServer server;
    private ByteBuf rest = Unpooled.EMPTY_BUFFER;

    Http1Answers(OutsideServer server) {
        this.server = server;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, HttpObject part) {
        if (part instanceof HttpRequest request) {
            ByteBuf body =
                    server.answer(
                            request.uri(), request.headers().get(HttpHeaderNames.AUTHORIZATION));
            HttpResponse answer =
                    new DefaultHttpResponse(
                            HttpVersion.HTTP_1_1,
                            body == null ? HttpResponseStatus.FORBIDDEN : HttpResponseStatus.OK);
            rest = body == null ? Unpooled.EMPTY_BUFFER : body;
            answer.headers().set(HttpHeaderNames.CONTENT_LENGTH, rest.readableBytes());
            var _ = ctx.write(answer);
            if (rest.isReadable()) {
                pass(ctx);
            } else {
                var _ = ctx.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
            }
        }
    }

    private void pass(ChannelHandlerContext ctx) {
        while (rest.isReadable() && ctx.channel().isWritable()) {
            int length = Math.min(PIECE_BYTES, rest.readableBytes());
            var _ = ctx.write(new DefaultHttpContent(rest.readSlice(length)));
            if (rest.isReadable()) {
                ctx.flush();
            } else {
                var _ = ctx.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
            }
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        pass(ctx);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        var _ = ctx.close();
    }
}
