package dev.space.gateway.intercept;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Deque;

/** Keeps the ClientHello until somebody can answer it. Nobody asks for more meanwhile. */
final class Holding extends ChannelInboundHandlerAdapter {

    private final Runnable left;
    private final Deque<ByteBuf> held = new ArrayDeque<>();

    /**
     * Empty.
     *
     * @param left what to do when the sandbox goes away meanwhile
     */
    Holding(Runnable left) {
        this.left = left;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (msg instanceof ByteBuf bytes) {
            held.add(bytes);
        } else {
            ReferenceCountUtil.release(msg);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            left.run();
        }
        ctx.fireUserEventTriggered(event);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        left.run();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        for (ByteBuf bytes = held.poll(); bytes != null; bytes = held.poll()) {
            if (ctx.channel().isOpen()) {
                ctx.fireChannelRead(bytes);
            } else {
                bytes.release();
            }
        }
        ctx.fireChannelReadComplete();
    }
}
