package dev.space.gateway.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * Reads the status of the first answer and nothing more: until a server has agreed to another
 * protocol, what the sandbox sends is HTTP and is judged as such.
 */
final class UpgradeWatch extends ChannelInboundHandlerAdapter {

    private static final int STATUS_LINE_START = 12;
    private static final String AGREED = "HTTP/1.1 101";

    private final Consumer<Boolean> told;
    private final StringBuilder start = new StringBuilder(STATUS_LINE_START);

    UpgradeWatch(Consumer<Boolean> told) {
        this.told = told;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (msg instanceof ByteBuf bytes && start.length() < STATUS_LINE_START) {
            int more = Math.min(bytes.readableBytes(), STATUS_LINE_START - start.length());
            start.append(bytes.toString(bytes.readerIndex(), more, StandardCharsets.ISO_8859_1));
            ctx.fireChannelRead(msg);
            if (start.length() == STATUS_LINE_START) {
                told.accept(start.toString().equals(AGREED));
            }
        } else {
            ctx.fireChannelRead(msg);
        }
    }
}
