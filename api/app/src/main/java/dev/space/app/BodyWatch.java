package dev.space.app;

import dev.space.model.Limits;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;

/**
 * How fast the body of one connection's newest request comes, seen behind the decoder: what the
 * server says of a request's end is when somebody has read it, which for a request without a body
 * may be never. Touched by the connection's own event loop alone.
 */
final class BodyWatch extends ChannelInboundHandlerAdapter {
    /** A request whose head is through just now; its end always follows. */
    private boolean coming = true;

    private long bytes;
    private long waitedMillis;

    private BodyWatch() {}

    /** The connection's own; put there while its first request's head passes. */
    static BodyWatch of(Channel channel) {
        ChannelPipeline pipeline = channel.pipeline();
        BodyWatch known = pipeline.get(BodyWatch.class);
        if (known != null) {
            return known;
        }
        BodyWatch watch = new BodyWatch();
        ChannelHandlerContext decoder = pipeline.context(HttpRequestDecoder.class);
        if (decoder == null) {
            watch.coming = false; // No HTTP/1: its streams have bounds of their own.
        } else {
            pipeline.addAfter(decoder.name(), "body-watch", watch);
        }
        return watch;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpRequest) {
            coming = true;
            bytes = 0;
            waitedMillis = 0;
        }
        if (message instanceof HttpContent content) {
            bytes += content.content().readableBytes();
            coming = !(message instanceof LastHttpContent);
        }
        context.fireChannelRead(message);
    }

    /** One more look; true when the rest of the body is later than it may be. */
    boolean isLate(Channel channel, long sinceLookMillis) {
        if (!coming) {
            return false;
        }
        // Where reading is paused it is the platform that is slow.
        waitedMillis += channel.config().isAutoRead() ? sinceLookMillis : 0;
        return waitedMillis
                > Limits.HTTP_BODY_GRACE_MILLIS
                        + bytes * 1000 / Limits.HTTP_BODY_BYTES_PER_SECOND_MIN;
    }
}
