package dev.space.gateway.intercept;

import dev.space.gateway.credential.Scrubber;
import dev.space.gateway.tcp.GuestConnection;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;

/** One direction of a WebSocket: bytes as they come, of which a credential is overwritten. */
final class Frames extends ChannelInboundHandlerAdapter {

    private final GuestConnection connection;
    private final Channel peer;
    private final @Nullable Scrubber scrubber;

    Frames(GuestConnection connection, Channel peer, @Nullable Scrubber scrubber) {
        this.connection = connection;
        this.peer = peer;
        this.scrubber = scrubber;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (msg instanceof ByteBuf bytes) {
            var _ = peer.write(scrubber == null ? bytes : scrubber.next(ctx.alloc(), bytes));
        } else {
            ReferenceCountUtil.release(msg);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        peer.flush();
        if (peer.isWritable()) {
            ctx.read();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable()) {
            peer.read();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent
                || event instanceof SslCloseCompletionEvent) {
            end(ctx);
        }
    }

    /** What was said before goes out before the end does. */
    private void end(ChannelHandlerContext ctx) {
        ByteBuf rest = scrubber == null ? ctx.alloc().buffer(0) : scrubber.last(ctx.alloc());
        peer.writeAndFlush(rest).addListener(_ -> connection.closedByGuest());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        connection.broke();
    }
}
