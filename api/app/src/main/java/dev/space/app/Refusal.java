package dev.space.app;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** Says one thing on a connection and closes it; what comes in is dropped unread. */
final class Refusal extends ChannelInboundHandlerAdapter {
    /** Time for the client to read it: a close with unread input would discard the answer. */
    private static final long LINGER_MILLIS = 1000;

    private final String answer;

    Refusal(String answer) {
        this.answer = answer;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        var _ =
                context.writeAndFlush(Unpooled.copiedBuffer(answer, StandardCharsets.US_ASCII))
                        .addListener(_ -> closeSoon(context));
        var _ = context.read();
    }

    private static void closeSoon(ChannelHandlerContext context) {
        var _ =
                context.executor()
                        .schedule(() -> close(context), LINGER_MILLIS, TimeUnit.MILLISECONDS);
    }

    private static void close(ChannelHandlerContext context) {
        var _ = context.close();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object input) {
        ReferenceCountUtil.release(input);
    }
}
