package dev.space.gateway.intercept;

import dev.space.gateway.credential.Use;
import dev.space.gateway.tcp.HttpCheck;
import dev.space.model.egress.EgressReason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The sandbox's side of one HTTP/1 connection or HTTP/2 stream: takes one request after the other,
 * has it judged, and sends it on piece by piece. The next one begins when the answer is whole.
 */
final class Asking extends ChannelInboundHandlerAdapter {

    private enum State {
        IDLE,
        /** Waits for its credential. */
        WAITING,
        /** Has its whole body collected. */
        COLLECTING,
        OPENING,
        SENDING,
        /** Is sent; the answer is not whole. */
        SENT,
        /** Was answered here; the rest is read away. */
        OVER
    }

    private final RequestRules rules;
    private final Wire wire;
    private final Deque<Object> pending = new ArrayDeque<>();
    private State state = State.IDLE;
    private @Nullable HttpRequest request;
    private Optional<Use> use = Optional.empty();
    private @Nullable Body body;
    private @Nullable Channel outside;
    private @Nullable Answering answering;
    private boolean keepAlive;

    Asking(RequestRules rules, Wire wire) {
        this.rules = rules;
        this.wire = wire;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (state == State.OVER || !(msg instanceof HttpObject)) {
            ReferenceCountUtil.release(msg);
        } else if (state == State.WAITING || state == State.OPENING || state == State.SENT) {
            pending.add(msg);
        } else {
            take(ctx, msg);
        }
    }

    private void take(ChannelHandlerContext ctx, Object msg) {
        if (((HttpObject) msg).decoderResult().isFailure()) {
            ReferenceCountUtil.release(msg);
            unreadable(ctx);
        } else if (state == State.IDLE && msg instanceof HttpRequest next) {
            begin(ctx, next);
        } else if (state != State.IDLE && msg instanceof HttpContent content) {
            content(ctx, content);
        } else {
            ReferenceCountUtil.release(msg);
            unreadable(ctx);
        }
    }

    private void unreadable(ChannelHandlerContext ctx) {
        String method = request == null ? "" : request.method().name();
        stop(ctx, rules.stop(400, EgressReason.HTTP_MALFORMED, method));
    }

    private void begin(ChannelHandlerContext ctx, HttpRequest next) {
        request = next;
        keepAlive = HttpUtil.isKeepAlive(next);
        go(ctx, next, rules.judge(next), 0);
    }

    private void go(
            ChannelHandlerContext ctx,
            HttpRequest next,
            RequestRules.Judgement judgement,
            int waits) {
        switch (judgement) {
            case RequestRules.Wait(CompletableFuture<Void> done) -> {
                state = State.WAITING;
                var _ =
                        done.whenCompleteAsync(
                                (_, _) -> waited(ctx, next, waits + 1), ctx.executor());
            }
            case RequestRules.Stop stop -> {
                ReferenceCountUtil.release(next);
                stop(ctx, stop);
            }
            case RequestRules.Pass(Optional<Use> granted) -> {
                use = granted;
                boolean upgrades = !wire.hasStreams() && HttpCheck.isWebSocket(next);
                prepare(next, upgrades);
                if (use.isPresent() && use.get().wantsBody(next)) {
                    collect(ctx, next);
                } else {
                    open(ctx, next, upgrades);
                }
            }
        }
    }

    private void waited(ChannelHandlerContext ctx, HttpRequest next, int waits) {
        if (state != State.WAITING) {
            ReferenceCountUtil.release(next);
            return;
        }
        state = State.IDLE;
        go(ctx, next, rules.judgeAgain(next, waits), waits);
        if (state == State.COLLECTING) {
            drain(ctx);
        }
    }

    private void prepare(HttpRequest next, boolean upgrades) {
        Headers.strip(next.headers());
        if (upgrades) {
            next.headers().set(HttpHeaderNames.CONNECTION, "Upgrade");
            next.headers().set(HttpHeaderNames.UPGRADE, "websocket");
        }
        use.ifPresent(u -> {
            Headers.askPlain(next.headers());
            u.intoHead(next);
        });
    }

    private void collect(ChannelHandlerContext ctx, HttpRequest next) {
        state = State.COLLECTING;
        body = new Body(ctx.alloc());
        if (HttpUtil.is100ContinueExpected(next)) {
            next.headers().remove(HttpHeaderNames.EXPECT);
            var _ =
                    ctx.writeAndFlush(
                            new DefaultFullHttpResponse(
                                    HttpVersion.HTTP_1_1,
                                    HttpResponseStatus.CONTINUE,
                                    Unpooled.EMPTY_BUFFER));
        }
        if (next instanceof FullHttpRequest full) {
            content(ctx, full);
        }
    }

    private void open(ChannelHandlerContext ctx, HttpRequest next, boolean upgrades) {
        state = State.OPENING;
        Answering answers = new Answering(this, wire, ctx.channel(), use, upgrades);
        answering = answers;
        wire.open(
                answers,
                next.method().equals(HttpMethod.HEAD),
                channel -> opened(ctx, channel, next),
                () -> {
                    ReferenceCountUtil.release(next);
                    state = State.OVER;
                    clear();
                    wire.broke(ctx.channel());
                });
    }

    private void opened(ChannelHandlerContext ctx, Channel channel, HttpRequest next) {
        if (state != State.OPENING) {
            ReferenceCountUtil.release(next);
            wire.drop(channel);
            return;
        }
        outside = channel;
        state = next instanceof LastHttpContent ? State.SENT : State.SENDING;
        var _ = channel.write(next);
        Body whole = body;
        if (whole != null) {
            body = null;
            state = State.SENT;
            var _ = channel.write(new DefaultLastHttpContent(whole.take()));
        }
        channel.flush();
        channel.read();
        drain(ctx);
    }

    /** What waited, as far as it may go on now; then more. */
    private void drain(ChannelHandlerContext ctx) {
        while (!pending.isEmpty() && takes()) {
            take(ctx, pending.remove());
        }
        if (outside != null) {
            outside.flush();
        }
        more(ctx);
    }

    private boolean takes() {
        return state == State.IDLE || state == State.COLLECTING || state == State.SENDING;
    }

    private void content(ChannelHandlerContext ctx, HttpContent content) {
        if (state == State.COLLECTING) {
            collected(ctx, content);
            return;
        }
        Channel to = outside;
        if (to == null) {
            content.release();
            return;
        }
        if (content instanceof LastHttpContent last) {
            state = State.SENT;
            Headers.strip(last.trailingHeaders());
        }
        var _ = to.write(content);
    }

    private void collected(ChannelHandlerContext ctx, HttpContent content) {
        Body whole = body;
        HttpRequest head = request;
        boolean last = content instanceof LastHttpContent;
        if (whole == null || head == null || !whole.add(content)) {
            String method = head == null ? "" : head.method().name();
            stop(ctx, rules.stop(413, EgressReason.REQUEST_TOO_LARGE, method));
        } else if (last) {
            whole.replace(use.orElseThrow(), head);
            HttpRequest separate = Body.head(head, whole.length());
            request = separate;
            open(ctx, separate, false);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (outside != null) {
            outside.flush();
        }
        more(ctx);
    }

    /** Asks for what can be used; one read ahead tells when the sandbox leaves. */
    private void more(ChannelHandlerContext ctx) {
        boolean wanted =
                switch (state) {
                    case IDLE, COLLECTING, OVER -> true;
                    case WAITING, OPENING -> false;
                    case SENDING -> outside != null && outside.isWritable();
                    case SENT -> pending.isEmpty();
                };
        if (wanted) {
            ctx.read();
        }
    }

    /** The outside takes more. */
    void wantsMore(Channel guest) {
        if (state == State.SENDING) {
            guest.read();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable() && outside != null) {
            outside.read();
        }
    }

    /** The answer is whole and written. */
    void answered(Channel guest, boolean goesOn) {
        boolean sent = state == State.SENT;
        Channel from = outside;
        if (wire.hasStreams() || !sent || !keepAlive || !goesOn) {
            state = State.OVER;
            clear();
            wire.end(guest, sent);
            return;
        }
        state = State.IDLE;
        request = null;
        answering = null;
        if (from != null) {
            from.read();
        }
        drain(guest.pipeline().context(this));
    }

    /** Whether the sandbox's side can go on after this answer. */
    boolean keepsAlive() {
        return keepAlive && (state == State.SENT || wire.hasStreams());
    }

    /** Both sides leave HTTP. */
    void leave() {
        state = State.OVER;
    }

    /** The answer must not be seen; nothing of it was. */
    void refuseAnswer(Channel guest, EgressReason reason) {
        HttpRequest asked = request;
        String method = asked == null ? "" : asked.method().name();
        stop(guest.pipeline().context(this), rules.stop(502, reason, method));
    }

    private void stop(ChannelHandlerContext ctx, RequestRules.Stop stop) {
        boolean ended = state == State.SENT || request instanceof LastHttpContent;
        boolean begun = answering != null && answering.hasBegun();
        state = State.OVER;
        clear();
        Channel from = outside;
        outside = null;
        if (from != null) {
            wire.drop(from);
        }
        if (begun) {
            wire.broke(ctx.channel());
            return;
        }
        ByteBuf text = ctx.alloc().buffer();
        text.writeCharSequence(stop.text(), StandardCharsets.UTF_8);
        DefaultFullHttpResponse answer =
                new DefaultFullHttpResponse(
                        HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(stop.status()), text);
        answer.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8")
                .set(HttpHeaderNames.CONTENT_LENGTH, text.readableBytes())
                .set("space-refused", stop.reason().name());
        wire.mark(answer, false);
        var _ = ctx.channel().writeAndFlush(answer);
        wire.farewell(ctx.channel(), ended);
        more(ctx);
    }

    private void clear() {
        pending.forEach(ReferenceCountUtil::release);
        pending.clear();
        if (body != null) {
            body.release();
            body = null;
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        boolean leaves =
                event instanceof ChannelInputShutdownEvent
                        || event instanceof SslCloseCompletionEvent
                        || event instanceof Http2ResetFrame;
        if (leaves) {
            left(ctx.channel());
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        left(ctx.channel());
    }

    private void left(Channel guest) {
        boolean over = state == State.OVER;
        state = State.OVER;
        clear();
        Channel from = outside;
        outside = null;
        if (from != null && !over) {
            wire.drop(from);
        }
        if (!wire.hasStreams()) {
            var _ = guest.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        state = State.OVER;
        clear();
        wire.broke(ctx.channel());
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        clear();
    }
}
