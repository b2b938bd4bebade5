package dev.space.gateway.intercept;

import dev.space.gateway.credential.Use;
import dev.space.gateway.tcp.GuestConnection;
import dev.space.gateway.tcp.StrictDecoder;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequestEncoder;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.ssl.SslHandler;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** HTTP/1 on both sides: one connection each, one request after the other. */
final class Http1Sides implements Wire {

    private final GuestConnection connection;
    private final @Nullable Channel outside;
    private final Encoder encoder = new Encoder();
    private final Decoder decoder = new Decoder();
    private @Nullable Answering last;

    private Http1Sides(GuestConnection connection, @Nullable Channel outside) {
        this.connection = connection;
        this.outside = outside;
    }

    static void join(
            GuestConnection connection, RequestRules rules, Channel guest, Channel outside) {
        Http1Sides wire = new Http1Sides(connection, outside);
        outside.pipeline().addLast(wire.decoder, new HttpRequestEncoder());
        wire.install(guest, rules);
    }

    /** Without an outside. */
    static void alone(GuestConnection connection, RequestRules rules, Channel guest) {
        new Http1Sides(connection, null).install(guest, rules);
    }

    private void install(Channel guest, RequestRules rules) {
        guest.pipeline().addLast(new StrictDecoder(), encoder, new Asking(rules, this));
    }

    /** Knows which answers have no body whatever their head says. */
    private static final class Decoder extends HttpResponseDecoder {

        boolean head;

        Decoder() {
            super(StrictDecoder.config());
        }

        @Override
        protected boolean isContentAlwaysEmpty(HttpMessage message) {
            return isEmpty(message, head) || super.isContentAlwaysEmpty(message);
        }
    }

    /** The same towards the sandbox. */
    private static final class Encoder extends HttpResponseEncoder {

        boolean head;

        @Override
        protected boolean isContentAlwaysEmpty(HttpResponse message) {
            return isEmpty(message, head) || super.isContentAlwaysEmpty(message);
        }
    }

    /** An interim answer never has a body; Netty thinks of an old WebSocket where it might. */
    private static boolean isEmpty(HttpMessage message, boolean head) {
        return message instanceof HttpResponse r && (head || r.status().code() < 200);
    }

    @Override
    public boolean hasStreams() {
        return false;
    }

    @Override
    public void open(Answering answers, boolean head, Consumer<Channel> then, Runnable otherwise) {
        Channel to = outside;
        if (to == null || !to.isActive()) {
            otherwise.run();
            return;
        }
        encoder.head = head;
        decoder.head = head;
        if (last != null) {
            to.pipeline().remove(last);
        }
        last = answers;
        to.pipeline().addLast(answers);
        then.accept(to);
    }

    @Override
    public void mark(HttpResponse response, boolean goesOn) {
        if (!goesOn) {
            response.headers().set(HttpHeaderNames.CONNECTION, "close");
        }
    }

    @Override
    public void farewell(Channel guest, boolean requestEnded) {
        connection.hurry();
        guest.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(_ -> endOutput(guest));
    }

    /** TLS says that it is the end, then TCP does; what the sandbox still sends is read away. */
    private void endOutput(Channel guest) {
        SslHandler tls = guest.pipeline().get(SslHandler.class);
        if (tls == null || !guest.isOpen()) {
            connection.closedByGuest();
            return;
        }
        tls.closeOutbound()
                .addListener(_ -> {
                    var _ = ((DuplexChannel) guest).shutdownOutput();
                });
    }

    @Override
    public void end(Channel guest, boolean requestEnded) {
        guest.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(_ -> connection.closedByGuest());
    }

    @Override
    public void broke(Channel guest) {
        connection.broke();
    }

    @Override
    public void drop(Channel to) {
        connection.dropUpstream();
    }

    @Override
    public void frames(Channel guest, Channel to, Asking asking, Answering answering) {
        Frames up = new Frames(connection, to, null);
        Frames down =
                new Frames(connection, guest, answering.use().map(Use::scrubber).orElse(null));
        guest.pipeline().addLast(up);
        to.pipeline().addLast(down);
        guest.pipeline().remove(encoder);
        guest.pipeline().remove(asking);
        guest.pipeline().remove(StrictDecoder.class);
        to.pipeline().remove(HttpRequestEncoder.class);
        to.pipeline().remove(answering);
        to.pipeline().remove(decoder);
        guest.read();
        to.read();
    }
}
