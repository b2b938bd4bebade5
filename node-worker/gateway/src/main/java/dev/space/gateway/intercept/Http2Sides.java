package dev.space.gateway.intercept;

import dev.space.gateway.tcp.GuestConnection;
import dev.space.gateway.tcp.StrictDecoder;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http2.DefaultHttp2GoAwayFrame;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** HTTP/2 on both sides: each of the sandbox's streams has one of its own to the outside. */
final class Http2Sides implements Wire {

    /** Streams of one connection at once. */
    static final int STREAMS_MAX = 64;

    /** What may be under way in one stream without being taken: the sandbox is near. */
    private static final int WINDOW_BYTES = 64 << 10;

    /** Servers are far away. */
    private static final int OUTSIDE_WINDOW_BYTES = 256 << 10;

    /** In all streams of a connection to a server, besides what HTTP/2 begins with. */
    private static final int OUTSIDE_MORE_BYTES = 448 << 10;

    private static final WriteBufferWaterMark STREAM_MARK =
            new WriteBufferWaterMark(16 << 10, 32 << 10);

    /** After the server has left, for what the sandbox has not taken yet. */
    private static final Duration LEFT_WITHIN = Duration.ofSeconds(30);

    private final GuestConnection connection;
    private final Channel guest;
    private final @Nullable Channel outside;
    private int open;
    private boolean left;

    private Http2Sides(GuestConnection connection, Channel guest, @Nullable Channel outside) {
        this.connection = connection;
        this.guest = guest;
        this.outside = outside;
    }

    static void join(
            GuestConnection connection, RequestRules rules, Channel guest, Channel outside) {
        Http2Sides wire = new Http2Sides(connection, guest, outside);
        outside.config().setAutoRead(true);
        Http2FrameCodec codec =
                Http2FrameCodecBuilder.forClient()
                        .initialSettings(settings(OUTSIDE_WINDOW_BYTES).pushEnabled(false))
                        .encoderEnforceMaxConcurrentStreams(true)
                        .validateHeaders(true)
                        .build();
        outside.pipeline()
                .addLast(
                        codec,
                        new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()),
                        wire.new Parent(true));
        widen(codec.connection());
        wire.install(rules);
    }

    private static void widen(Http2Connection connection) {
        try {
            connection
                    .local()
                    .flowController()
                    .incrementWindowSize(connection.connectionStream(), OUTSIDE_MORE_BYTES);
        } catch (Http2Exception e) {
            throw new IllegalStateException("a new connection's window can be widened", e);
        }
    }

    /** Without an outside. */
    static void alone(GuestConnection connection, RequestRules rules, Channel guest) {
        new Http2Sides(connection, guest, null).install(rules);
    }

    private void install(RequestRules rules) {
        guest.config().setAutoRead(true);
        guest.pipeline()
                .addLast(
                        Http2FrameCodecBuilder.forServer()
                                .initialSettings(
                                        settings(WINDOW_BYTES).maxConcurrentStreams(STREAMS_MAX))
                                .validateHeaders(true)
                                .build(),
                        new Http2MultiplexHandler(new Streams(rules)),
                        new Parent(false));
    }

    private static Http2Settings settings(int window) {
        return new Http2Settings()
                .initialWindowSize(window)
                .maxHeaderListSize(StrictDecoder.HEADERS_BYTES_MAX);
    }

    /** Makes each stream of the sandbox ask. */
    private final class Streams extends ChannelInitializer<Channel> {

        private final RequestRules rules;

        Streams(RequestRules rules) {
            this.rules = rules;
        }

        @Override
        protected void initChannel(Channel stream) {
            configure(stream);
            stream.pipeline()
                    .addLast(
                            new Http2StreamFrameToHttpObjectCodec(true, true),
                            new Asking(rules, Http2Sides.this));
            stream.read();
        }

        @Override
        public boolean isSharable() {
            return true;
        }
    }

    private static void configure(Channel stream) {
        stream.config().setAutoRead(false);
        stream.config().setOption(ChannelOption.WRITE_BUFFER_WATER_MARK, STREAM_MARK);
    }

    @Override
    public boolean hasStreams() {
        return true;
    }

    @Override
    public void open(Answering answers, boolean head, Consumer<Channel> then, Runnable otherwise) {
        if (outside == null || left) {
            otherwise.run();
            return;
        }
        ChannelHandler handlers =
                new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel stream) {
                        configure(stream);
                        stream.pipeline()
                                .addLast(
                                        new Http2StreamFrameToHttpObjectCodec(false, true),
                                        answers);
                    }
                };
        new Http2StreamChannelBootstrap(outside)
                .handler(handlers)
                .open()
                .addListener((Future<Http2StreamChannel> f) -> {
                    if (f.isSuccess()) {
                        opened(f.getNow());
                        then.accept(f.getNow());
                    } else {
                        otherwise.run();
                    }
                });
    }

    private void opened(Channel stream) {
        open++;
        stream.closeFuture()
                .addListener(_ -> {
                    open--;
                    if (left && open == 0) {
                        leave();
                    }
                });
    }

    /** Nothing is under way any more. */
    private void leave() {
        guest.writeAndFlush(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR))
                .addListener(_ -> connection.closedByGuest());
    }

    @Override
    public void mark(HttpResponse response, boolean goesOn) {}

    @Override
    public void farewell(Channel stream, boolean requestEnded) {
        end(stream, requestEnded);
    }

    /** An answer that came early ends the request too, but not before it was read. */
    @Override
    public void end(Channel stream, boolean requestEnded) {
        if (requestEnded) {
            return;
        }
        Runnable reset =
                () -> {
                    if (stream.isOpen()) {
                        var _ =
                                stream.writeAndFlush(
                                        new DefaultHttp2ResetFrame(Http2Error.NO_ERROR));
                    }
                };
        long patience = connection.home().timeouts().farewell().toMillis();
        var _ = stream.eventLoop().schedule(reset, patience, TimeUnit.MILLISECONDS);
    }

    @Override
    public void broke(Channel stream) {
        if (stream.isOpen()) {
            var _ = stream.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.INTERNAL_ERROR));
        }
    }

    @Override
    public void drop(Channel stream) {
        var _ = stream.close();
    }

    @Override
    public void frames(Channel stream, Channel to, Asking asking, Answering answering) {
        throw new IllegalStateException("HTTP/2 switches to nothing");
    }

    /** What concerns a whole connection. */
    private final class Parent extends ChannelInboundHandlerAdapter {

        private final boolean isOutside;

        Parent(boolean isOutside) {
            this.isOutside = isOutside;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            if (isOutside && msg instanceof Http2GoAwayFrame) {
                var _ = guest.writeAndFlush(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR));
            }
            ReferenceCountUtil.release(msg);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            boolean ends =
                    event instanceof ChannelInputShutdownEvent
                            || event instanceof SslCloseCompletionEvent;
            if (!ends) {
                return;
            }
            if (!isOutside) {
                connection.closedByGuest();
            } else if (!left) {
                left = true;
                if (open == 0) {
                    leave();
                } else {
                    connection.hurry(LEFT_WITHIN);
                }
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            connection.broke();
        }
    }
}
