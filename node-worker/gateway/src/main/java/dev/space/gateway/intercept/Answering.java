package dev.space.gateway.intercept;

import dev.space.gateway.credential.Scrubber;
import dev.space.gateway.credential.Use;
import dev.space.model.egress.EgressReason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.util.ReferenceCountUtil;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The outside's side of one request: its answer goes to the sandbox as it comes. */
final class Answering extends ChannelInboundHandlerAdapter {

    private enum State {
        WAITING,
        /** An interim answer's end is not to be taken for the answer's. */
        INTERIM,
        PASSING,
        SWITCHING,
        DONE
    }

    private final Asking asking;
    private final Wire wire;
    private final Channel guest;
    private final Optional<Use> use;
    private final boolean upgrades;
    private final @Nullable Scrubber scrubber;
    private State state = State.WAITING;
    private boolean goesOn;

    Answering(Asking asking, Wire wire, Channel guest, Optional<Use> use, boolean upgrades) {
        this.asking = asking;
        this.wire = wire;
        this.guest = guest;
        this.use = use;
        this.upgrades = upgrades;
        this.scrubber = use.map(Use::scrubber).orElse(null);
    }

    /** Whether the sandbox has seen something of the answer. */
    boolean hasBegun() {
        return state == State.PASSING || state == State.SWITCHING;
    }

    Optional<Use> use() {
        return use;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (state == State.DONE || !(msg instanceof HttpObject object)) {
            ReferenceCountUtil.release(msg);
        } else if (object.decoderResult().isFailure()) {
            ReferenceCountUtil.release(msg);
            fail(ctx);
        } else if (msg instanceof HttpResponse response && state == State.WAITING) {
            head(ctx, response);
        } else if (msg instanceof HttpContent content) {
            content(ctx, content);
        } else {
            ReferenceCountUtil.release(msg);
            fail(ctx);
        }
    }

    private void head(ChannelHandlerContext ctx, HttpResponse response) {
        HttpResponseStatus status = response.status();
        boolean switches = status.equals(HttpResponseStatus.SWITCHING_PROTOCOLS);
        if (switches != (switches && upgrades)) {
            ReferenceCountUtil.release(response);
            fail(ctx);
        } else if (switches) {
            switching(response);
        } else if (status.codeClass() == HttpStatusClass.INFORMATIONAL) {
            interim(response);
        } else if (use.isPresent() && Headers.isEncoded(response.headers())) {
            ReferenceCountUtil.release(response);
            state = State.DONE;
            asking.refuseAnswer(guest, EgressReason.ANSWER_ENCODED);
        } else {
            state = State.PASSING;
            use.ifPresent(u -> u.answered(status.code()));
            goesOn = HttpUtil.isKeepAlive(response) && isDelimited(response);
            Headers.strip(response.headers());
            use.ifPresent(u -> u.outOf(response.headers()));
            wire.mark(response, goesOn && asking.keepsAlive());
            if (response instanceof LastHttpContent && response instanceof HttpContent whole) {
                whole(response, whole);
            } else {
                var _ = guest.write(response);
            }
        }
    }

    /** Otherwise its end is the connection's. */
    private static boolean isDelimited(HttpResponse response) {
        int code = response.status().code();
        return HttpUtil.isContentLengthSet(response)
                || HttpUtil.isTransferEncodingChunked(response)
                || code == 204
                || code == 304;
    }

    /** An answer that is its end too stays so: some clients want to know at once. */
    private void whole(HttpResponse response, HttpContent content) {
        if (content.content().isReadable() && scrubber != null) {
            throw new IllegalStateException("a body came with its head");
        }
        state = State.DONE;
        var _ = guest.writeAndFlush(response);
        asking.answered(guest, goesOn);
    }

    private void interim(HttpResponse response) {
        boolean isWhole = response instanceof LastHttpContent;
        state = isWhole ? State.WAITING : State.INTERIM;
        Headers.strip(response.headers());
        use.ifPresent(u -> u.outOf(response.headers()));
        var _ =
                guest.writeAndFlush(
                        new DefaultFullHttpResponse(
                                response.protocolVersion(),
                                response.status(),
                                Unpooled.EMPTY_BUFFER,
                                response.headers(),
                                io.netty.handler.codec.http.EmptyHttpHeaders.INSTANCE));
        ReferenceCountUtil.release(response);
    }

    private void switching(HttpResponse response) {
        if (use.isPresent() && Headers.isEncoded(response.headers())) {
            ReferenceCountUtil.release(response);
            state = State.DONE;
            asking.refuseAnswer(guest, EgressReason.ANSWER_ENCODED);
            return;
        }
        state = State.SWITCHING;
        Headers.strip(response.headers());
        response.headers()
                .set(HttpHeaderNames.CONNECTION, "Upgrade")
                .set(HttpHeaderNames.UPGRADE, "websocket");
        use.ifPresent(u -> u.outOf(response.headers()));
        var _ = guest.write(response);
    }

    private void content(ChannelHandlerContext ctx, HttpContent content) {
        boolean last = content instanceof LastHttpContent;
        switch (state) {
            case INTERIM -> {
                content.release();
                state = last ? State.WAITING : State.INTERIM;
            }
            case SWITCHING -> {
                var _ = guest.writeAndFlush(content);
                if (last) {
                    state = State.DONE;
                    asking.leave();
                    wire.frames(guest, ctx.channel(), asking, this);
                }
            }
            case PASSING -> pass(ctx, content);
            case WAITING, DONE -> content.release();
        }
    }

    private void pass(ChannelHandlerContext ctx, HttpContent content) {
        boolean last = content instanceof LastHttpContent;
        HttpContent clean = scrubber == null ? content : scrubbed(ctx, content, scrubber);
        if (last) {
            state = State.DONE;
            Headers.strip(((LastHttpContent) clean).trailingHeaders());
            var _ = guest.writeAndFlush(clean);
            asking.answered(guest, goesOn);
        } else {
            var _ = guest.write(clean);
        }
    }

    private HttpContent scrubbed(ChannelHandlerContext ctx, HttpContent content, Scrubber with) {
        ByteBuf clean = with.next(ctx.alloc(), content.content());
        if (!(content instanceof LastHttpContent last)) {
            return new DefaultHttpContent(clean);
        }
        ByteBuf rest = with.last(ctx.alloc());
        use.ifPresent(u -> u.outOf(last.trailingHeaders()));
        return last.replace(Unpooled.wrappedBuffer(clean, rest));
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (state == State.DONE) {
            return;
        }
        guest.flush();
        if (guest.isWritable()) {
            ctx.read();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable()) {
            asking.wantsMore(guest);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            ended(ctx);
        } else if (event instanceof Http2ResetFrame reset && state != State.DONE) {
            state = State.DONE;
            var _ = guest.writeAndFlush(new DefaultHttp2ResetFrame(reset.errorCode()));
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        ended(ctx);
    }

    /** Without its end the answer must not look whole; between answers it is an end like others. */
    private void ended(ChannelHandlerContext ctx) {
        if (state != State.DONE) {
            fail(ctx);
        } else if (!wire.hasStreams()) {
            wire.end(guest, true);
        }
    }

    private void fail(ChannelHandlerContext ctx) {
        state = State.DONE;
        wire.broke(guest);
        wire.drop(ctx.channel());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (state != State.DONE || !wire.hasStreams()) {
            fail(ctx);
        }
    }
}
