package dev.space.gateway.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a connection: what comes in on its channel goes out on the other, as fast as the
 * other takes it, and an end is passed on as an end. Until the other is there, what comes is held:
 * nobody asks for it, but the end of a stream brings what was before it.
 */
final class Relay extends ChannelInboundHandlerAdapter {

    private final GuestConnection connection;
    private final boolean up;
    private final Deque<ByteBuf> held = new ArrayDeque<>();
    private @Nullable Channel peer;
    private boolean ended;

    /**
     * Not joined yet.
     *
     * @param up from the sandbox to the outside
     */
    Relay(GuestConnection connection, boolean up) {
        this.connection = connection;
        this.up = up;
    }

    /** From now on what comes goes there. */
    void join(Channel own, Channel other) {
        peer = other;
        for (ByteBuf bytes = held.poll(); bytes != null; bytes = held.poll()) {
            pass(other, bytes);
        }
        other.flush();
        if (ended) {
            end(other);
        } else {
            own.read();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (!(msg instanceof ByteBuf bytes)) {
            ReferenceCountUtil.release(msg);
        } else if (peer == null) {
            held.add(bytes);
        } else {
            pass(peer, bytes);
        }
    }

    private void pass(Channel other, ByteBuf bytes) {
        if (connection.moved(up, bytes.readableBytes())) {
            var _ = other.write(bytes);
        } else {
            bytes.release();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (peer != null) {
            peer.flush();
            if (peer.isWritable()) {
                ctx.read();
            }
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable()) {
            connection.wantsMore(ctx.channel());
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            ended = true;
            if (peer != null) {
                end(peer);
            }
        }
    }

    private void end(Channel other) {
        if (connection.keepsOpen(up)) {
            return;
        }
        endOutput(other).addListener(_ -> connection.directionEnded());
    }

    /** What was written goes out before the end does. */
    static ChannelFuture endOutput(Channel channel) {
        ChannelPromise done = channel.newPromise();
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER)
                .addListener(_ -> {
                    var _ = ((DuplexChannel) channel).shutdownOutput(done);
                });
        return done;
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        connection.broke();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        held.forEach(ReferenceCountUtil::release);
        held.clear();
    }
}
