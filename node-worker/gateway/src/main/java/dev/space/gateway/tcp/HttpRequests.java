package dev.space.gateway.tcp;

import dev.space.gateway.net.Refusal;
import dev.space.model.egress.EgressDecision;
import dev.space.model.egress.EgressDecision.Verdict;
import dev.space.model.egress.EgressReason;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestEncoder;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The sandbox's side of a plain HTTP/1 connection. Every request is read, judged, and written anew,
 * so that the server sees what was judged and nothing else; answers pass as they are. A WebSocket
 * passes once the server has agreed to it.
 */
final class HttpRequests extends ChannelInboundHandlerAdapter {

    private static final String ENCODER = "space-http-encoder";

    private enum State {
        WAITING,
        CONNECTING,
        OPEN,
        UPGRADING,
        REFUSED
    }

    private final GuestConnection connection;
    private final Deque<Object> pending = new ArrayDeque<>();
    private State state = State.WAITING;
    private @Nullable Channel outside;
    private int requests;
    private boolean upgrades;
    private boolean ended;

    private HttpRequests(GuestConnection connection) {
        this.connection = connection;
    }

    /** Makes the sandbox's side speak HTTP. */
    static void install(GuestConnection connection, Channel guest) {
        guest.pipeline()
                .addLast(new ByteCount(connection, true))
                .addLast(new StrictDecoder())
                .addLast(new HttpRequests(connection));
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        boolean isRequest = msg instanceof HttpRequest;
        boolean broken = msg instanceof HttpObject o && o.decoderResult().isFailure();
        if (state == State.REFUSED) {
            ReferenceCountUtil.release(msg);
        } else if (broken || (isRequest && state == State.UPGRADING)) {
            ReferenceCountUtil.release(msg);
            refuse(ctx, 400, EgressReason.HTTP_MALFORMED, "");
        } else if (msg instanceof HttpRequest request && !admit(ctx, request)) {
            ReferenceCountUtil.release(msg);
        } else {
            forward(msg);
        }
    }

    private void forward(Object msg) {
        Channel to = outside;
        if (to == null) {
            pending.add(msg);
        } else {
            var _ = to.write(msg);
        }
    }

    private boolean admit(ChannelHandlerContext ctx, HttpRequest request) {
        requests++;
        Target target = connection.target();
        String method = request.method().name();
        if (!connection.home().takeRequest()) {
            refuse(ctx, 429, EgressReason.LIMIT_RATE, method);
            return false;
        }
        EgressReason fault = HttpCheck.fault(request, target);
        if (fault == EgressReason.HTTP_MALFORMED) {
            refuse(ctx, 400, fault, method);
            return false;
        }
        if (fault != null && !connection.isDryRun(fault)) {
            refuse(ctx, 403, fault, method);
            return false;
        }
        EgressDecision decision =
                connection
                        .home()
                        .evaluator()
                        .http(target.host(), target.port(), method, request.uri());
        if (!decision.proceeds()) {
            refuse(ctx, 403, decision.reason(), method);
            return false;
        }
        if (decision.verdict() == Verdict.DRY_RUN_DENY) {
            connection.audit(Verdict.DRY_RUN_DENY, decision.reason(), a -> a.setMethod(method));
        }
        if (requests == 1 && HttpCheck.isWebSocket(request)) {
            upgrades = true;
        } else {
            HttpCheck.removeUpgrade(request);
        }
        if (state == State.WAITING) {
            open(ctx);
        }
        return true;
    }

    private void open(ChannelHandlerContext ctx) {
        state = State.CONNECTING;
        Relay back = new Relay(connection, false);
        connection.connect(
                back,
                channel -> opened(ctx, channel, back),
                failure -> {
                    connection.failed(failure);
                    unreachable(ctx, failure);
                });
    }

    private void opened(ChannelHandlerContext ctx, Channel channel, Relay back) {
        outside = channel;
        if (upgrades) {
            channel.pipeline().addFirst(new UpgradeWatch(agreed -> upgraded(ctx, agreed)));
        }
        channel.pipeline().addFirst(ENCODER, new HttpRequestEncoder());
        state = upgrades ? State.UPGRADING : State.OPEN;
        for (Object msg = pending.poll(); msg != null; msg = pending.poll()) {
            var _ = channel.write(msg);
        }
        channel.flush();
        back.join(channel, ctx.channel());
        if (ended) {
            end(channel);
        } else if (state == State.OPEN) {
            ctx.read();
        }
    }

    /** The server's answer to a wish for WebSocket. */
    private void upgraded(ChannelHandlerContext ctx, boolean agreed) {
        if (state != State.UPGRADING) {
            return;
        }
        Channel to = outside;
        if (!agreed || to == null) {
            state = State.OPEN;
            ctx.read();
            return;
        }
        Relay relay = new Relay(connection, true);
        to.pipeline().remove(ENCODER);
        ctx.pipeline().remove(ByteCount.class);
        ctx.pipeline().addLast(relay);
        ctx.pipeline().remove(this);
        ctx.pipeline().remove(StrictDecoder.class);
        relay.join(ctx.channel(), to);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        Channel to = outside;
        switch (state) {
            case OPEN -> {
                if (to != null) {
                    to.flush();
                    if (to.isWritable()) {
                        ctx.read();
                    }
                }
            }
            case UPGRADING -> {
                if (to != null) {
                    to.flush();
                }
            }
            case REFUSED, WAITING -> ctx.read();
            case CONNECTING -> {}
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
            if (state == State.REFUSED || state == State.WAITING) {
                connection.closedByGuest();
            } else if (outside != null) {
                end(outside);
            }
        }
    }

    private void end(Channel to) {
        Relay.endOutput(to).addListener(_ -> connection.directionEnded());
    }

    private void refuse(ChannelHandlerContext ctx, int status, EgressReason reason, String method) {
        State before = state;
        state = State.REFUSED;
        connection.home().requestRefused(reason);
        connection.audit(Verdict.DENY, reason, a -> a.setMethod(method));
        clear();
        if (before == State.CONNECTING || before == State.UPGRADING) {
            connection.broke();
            return;
        }
        String body = Answers.refusal(connection.target(), method, reason);
        connection.afterUpstream(
                () -> farewell(ctx, Answers.of(ctx.alloc(), status, reason, body)));
    }

    private void unreachable(ChannelHandlerContext ctx, Refusal failure) {
        state = State.REFUSED;
        clear();
        boolean forbidden = failure.reason() == EgressReason.ADDRESS_FORBIDDEN;
        String body = Answers.unreachable(connection.target(), failure);
        farewell(ctx, Answers.of(ctx.alloc(), forbidden ? 403 : 502, failure.reason(), body));
    }

    /**
     * The answer, then the end; what the sandbox still sends is read away, or it loses the answer.
     */
    private void farewell(ChannelHandlerContext ctx, ByteBuf answer) {
        connection.hurry();
        var _ = ctx.channel().write(answer);
        Relay.endOutput(ctx.channel())
                .addListener(_ -> {
                    if (ended) {
                        connection.closedByGuest();
                    }
                });
        ctx.read();
    }

    private void clear() {
        pending.forEach(ReferenceCountUtil::release);
        pending.clear();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        connection.broke();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        clear();
    }
}
