package dev.space.bench.gateway;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;

/** One connection of HTTP/1.1: a request after the other. */
final class Http1Load extends SimpleChannelInboundHandler<HttpObject> {

    private final LoadRun run;
    private long since;
    private boolean good;
    private boolean underWay;

    Http1Load(LoadRun run) {
        this.run = run;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        run.ready(() -> ask(ctx));
    }

    private void ask(ChannelHandlerContext ctx) {
        if (!run.take()) {
            return;
        }
        DefaultFullHttpRequest request =
                new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, run.job().path());
        request.headers().set(HttpHeaderNames.HOST, run.name());
        if (!run.job().authorization().equals(Job.NONE)) {
            request.headers().set(HttpHeaderNames.AUTHORIZATION, run.job().authorization());
        }
        since = System.nanoTime();
        underWay = true;
        var _ = ctx.writeAndFlush(request);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, HttpObject part) {
        if (part instanceof HttpResponse answer) {
            good = answer.status().equals(HttpResponseStatus.OK);
        }
        if (part instanceof HttpContent content) {
            run.came(content.content().readableBytes());
        }
        if (part instanceof LastHttpContent) {
            underWay = false;
            run.done(since, good && part.decoderResult().isSuccess());
            ask(ctx);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (underWay) {
            run.failed();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        var _ = ctx.close();
    }
}
