package dev.space.gateway.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** Counts bytes as they came, before they are anything else. */
public final class ByteCount extends ChannelInboundHandlerAdapter {

    private final GuestConnection connection;
    private final boolean up;

    public ByteCount(GuestConnection connection, boolean up) {
        this.connection = connection;
        this.up = up;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (msg instanceof ByteBuf bytes && !connection.moved(up, bytes.readableBytes())) {
            bytes.release();
            return;
        }
        ctx.fireChannelRead(msg);
    }
}
