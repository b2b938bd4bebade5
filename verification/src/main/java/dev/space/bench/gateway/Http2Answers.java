package dev.space.bench.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.util.ReferenceCountUtil;

/**
 * Answers on one connection of HTTP/2; its flow control holds what the other side does not take.
 */
final class Http2Answers extends ChannelInboundHandlerAdapter {

    private final OutsideServer server;

    Http2Answers(OutsideServer server) {
        this.server = server;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object frame) {
        if (frame instanceof Http2HeadersFrame asked) {
            ByteBuf body =
                    server.answer(
                            asked.headers().path().toString(),
                            asked.headers().get(HttpHeaderNames.AUTHORIZATION));
            Http2Headers answer = new DefaultHttp2Headers().status(body == null ? "403" : "200");
            if (body == null) {
                var _ =
                        ctx.write(
                                new DefaultHttp2HeadersFrame(answer, true).stream(asked.stream()));
                return;
            }
            answer.setInt(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
            var _ = ctx.write(new DefaultHttp2HeadersFrame(answer, false).stream(asked.stream()));
            var _ = ctx.write(new DefaultHttp2DataFrame(body, true).stream(asked.stream()));
        } else {
            ReferenceCountUtil.release(frame);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        ctx.flush();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        var _ = ctx.close();
    }
}
