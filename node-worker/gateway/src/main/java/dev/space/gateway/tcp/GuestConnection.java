package dev.space.gateway.tcp;

import dev.space.gateway.net.Refusal;
import dev.space.gatewayapi.v1.Audit;
import dev.space.gatewayapi.v1.Kind;
import dev.space.model.egress.EgressDecision;
import dev.space.model.egress.EgressDecision.Verdict;
import dev.space.model.egress.EgressReason;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection of a sandbox, from its acceptance to its end. First it proves what its decision
 * asks for (nothing, a ClientHello, HTTP requests), then it is connected to the outside, then both
 * sides are joined; or an {@link Interceptor} stands between them. Lives on its slot's loop;
 * nothing here is touched by another thread.
 */
public final class GuestConnection {

    private final long id;
    private final Home home;
    private final Channel guest;
    private final Target target;
    private final long startNanos = System.nanoTime();

    private EgressDecision decision;
    private @Nullable Channel upstream;
    private @Nullable Runnable afterUpstream;
    private boolean hurried;
    private boolean announced;
    private boolean over;
    private int directionsEnded;
    private long deadlineNanos;
    private long up;
    private long down;

    /**
     * Not begun.
     *
     * @param decision that let it begin
     */
    public GuestConnection(
            long id, Home home, Channel guest, Target target, EgressDecision decision) {
        this.id = id;
        this.home = home;
        this.guest = guest;
        this.target = target;
        this.decision = decision;
        this.deadlineNanos = startNanos + home.timeouts().opening().toNanos();
    }

    /** Begins: says what is recorded only, and has the sandbox prove what it must. */
    public void begin() {
        if (decision.verdict() == Verdict.DRY_RUN_DENY) {
            audit(Verdict.DRY_RUN_DENY, decision.reason(), _ -> {});
        }
        guest.closeFuture().addListener(_ -> finish(EgressReason.ALLOWED, false));
        ChannelPipeline pipeline = guest.pipeline();
        switch (decision.check()) {
            case NONE -> {
                pipeline.addLast(new Relay(this, true));
                proceed();
            }
            case TLS_NAME -> {
                pipeline.addLast(new TlsOpening(this)).addLast(new Relay(this, true));
                guest.read();
            }
            case TLS_REQUESTS -> {
                pipeline.addLast(new TlsOpening(this));
                guest.read();
            }
            case HTTP_REQUESTS -> {
                HttpRequests.install(this, guest);
                guest.read();
            }
        }
    }

    boolean isIntercepted() {
        return decision.check() == EgressDecision.Check.TLS_REQUESTS;
    }

    /** The sandbox has proven itself, and what it says inside is looked at. */
    void intercept(ClientHello hello) {
        home.interceptor().begin(this, guest, hello);
    }

    public Target target() {
        return target;
    }

    public Home home() {
        return home;
    }

    long id() {
        return id;
    }

    /** The sandbox has proven itself: connects, and joins both sides as they are. */
    void proceed() {
        Relay back = new Relay(this, false);
        connect(
                back,
                outside -> {
                    guest.pipeline().get(Relay.class).join(guest, outside);
                    back.join(outside, guest);
                },
                failure -> {
                    failed(failure);
                    finish(failure.reason(), true);
                });
    }

    /**
     * Connects to where the name leads now.
     *
     * @param handler the outside's only one at first
     */
    public void connect(
            ChannelHandler handler, Consumer<Channel> then, Consumer<Refusal> otherwise) {
        deadlineNanos = Long.MAX_VALUE;
        Future<Channel> attempt =
                target.name().isPresent()
                        ? home.upstream()
                                .toName(
                                        guest.eventLoop(),
                                        target.name().get(),
                                        target.port(),
                                        decision.mayBePrivate(),
                                        handler)
                        : home.upstream()
                                .toAddress(
                                        guest.eventLoop(),
                                        target.address(),
                                        target.port(),
                                        decision.mayBePrivate(),
                                        handler);
        attempt.addListener((Future<Channel> f) -> {
            if (f.isSuccess()) {
                connected(f.getNow(), then);
            } else if (!over) {
                otherwise.accept(refusal(f.cause()));
            }
        });
    }

    private static Refusal refusal(Throwable cause) {
        return cause instanceof Refusal r
                ? r
                : new Refusal(EgressReason.CONNECT_FAILED, cause.toString());
    }

    private void connected(Channel outside, Consumer<Channel> then) {
        if (over) {
            reset(outside);
            return;
        }
        upstream = outside;
        touch();
        outside.closeFuture()
                .addListener(_ -> {
                    if (outside.equals(upstream)) {
                        finish(EgressReason.ALLOWED, false);
                    }
                });
        announced = true;
        home.connected();
        audit(Verdict.ALLOW, EgressReason.ALLOWED, _ -> {});
        then.accept(outside);
    }

    /** There is no connection to the outside; who called says so to the sandbox, or resets. */
    public void failed(Refusal failure) {
        home.refused(failure.reason());
        Verdict verdict =
                failure.reason() == EgressReason.ADDRESS_FORBIDDEN ? Verdict.DENY : Verdict.ALLOW;
        audit(verdict, failure.reason(), a -> a.setEnded(true));
    }

    /** The outside is not needed any more, and its end is not the end of the sandbox's side. */
    public void dropUpstream() {
        Channel outside = upstream;
        upstream = null;
        if (outside != null) {
            reset(outside);
        }
    }

    /** The outside was reached and is of no use: written down as the end. */
    public void failedInside(Refusal failure) {
        failed(failure);
        announced = false;
        dropUpstream();
    }

    /** Refuses the whole connection: reset and written down. */
    public void refuse(EgressReason reason) {
        home.refused(reason);
        audit(Verdict.DENY, reason, a -> a.setEnded(true));
        announced = false;
        finish(reason, true);
    }

    /** Whether a fault is only to be recorded; then it is. */
    public boolean isDryRun(EgressReason fault) {
        if (!home.evaluator().isDryRun()) {
            return false;
        }
        audit(Verdict.DRY_RUN_DENY, fault, _ -> {});
        return true;
    }

    /** Counts bytes; false when the connection is over. */
    public boolean moved(boolean upwards, int bytes) {
        if (over) {
            return false;
        }
        touch();
        if (upwards) {
            up += bytes;
        } else {
            down += bytes;
        }
        return home.moved(upwards, bytes);
    }

    /** A side takes more: the other may be read again. */
    void wantsMore(Channel side) {
        Channel other = side.equals(guest) ? upstream : guest;
        if (other != null) {
            other.read();
        }
    }

    /** Whether the end of a direction is not to be passed on, because something of ours follows. */
    boolean keepsOpen(boolean upwards) {
        if (upwards || afterUpstream == null) {
            return false;
        }
        Runnable then = afterUpstream;
        afterUpstream = null;
        then.run();
        return true;
    }

    /** What the outside still has to say goes first, then this; it must not take long. */
    void afterUpstream(Runnable then) {
        Channel outside = upstream;
        if (outside == null) {
            then.run();
            return;
        }
        afterUpstream = then;
        hurry();
        var _ = Relay.endOutput(outside);
    }

    /** From now on there is only time for a farewell. */
    public void hurry() {
        hurry(home.timeouts().farewell());
    }

    /** From now on there is so much time, whatever moves. */
    public void hurry(Duration left) {
        deadlineNanos = System.nanoTime() + left.toNanos();
        hurried = true;
    }

    void directionEnded() {
        directionsEnded++;
        if (directionsEnded == 2) {
            finish(EgressReason.ALLOWED, false);
        }
    }

    /** The sandbox has left, and nothing is owed to anybody. */
    public void closedByGuest() {
        finish(EgressReason.ALLOWED, false);
    }

    /** A side failed. */
    public void broke() {
        finish(EgressReason.ALLOWED, true);
    }

    /** Ends it for a reason of the gateway's own. */
    public void end(EgressReason reason) {
        if (!over) {
            home.refused(reason);
        }
        finish(reason, true);
    }

    /** Looks whether it took too long. */
    public void tick(long nowNanos) {
        if (deadlineNanos == Long.MAX_VALUE || nowNanos - deadlineNanos <= 0) {
            return;
        }
        if (hurried) {
            finish(EgressReason.ALLOWED, true);
        } else {
            end(EgressReason.TIMED_OUT);
        }
    }

    /** The policy is another one now: what it does not allow any more ends. */
    public void judgeAnew() {
        EgressDecision now = home.connect(target);
        boolean stricter =
                now.check() != decision.check() && now.check() != EgressDecision.Check.NONE;
        boolean lessPrivate = decision.mayBePrivate() && !now.mayBePrivate();
        if (!now.proceeds() || stricter || lessPrivate) {
            end(EgressReason.POLICY_CHANGED);
        } else {
            decision = now;
        }
    }

    /** What moves is not idle; before it is connected, only the proof counts. */
    private void touch() {
        if (upstream != null && !hurried) {
            deadlineNanos = System.nanoTime() + home.timeouts().idle().toNanos();
        }
    }

    private void finish(EgressReason reason, boolean reset) {
        if (over) {
            return;
        }
        over = true;
        if (announced) {
            audit(isRefusal(reason) ? Verdict.DENY : Verdict.ALLOW, reason, a -> a.setEnded(true));
        } else if (reason == EgressReason.TIMED_OUT && !hurried) {
            audit(Verdict.DENY, reason, a -> a.setEnded(true));
        }
        close(guest, reset);
        if (upstream != null) {
            close(upstream, reset);
        }
        home.left(this);
    }

    private static boolean isRefusal(EgressReason reason) {
        return reason == EgressReason.POLICY_CHANGED || reason == EgressReason.LIMIT_BYTES;
    }

    private static void close(Channel channel, boolean reset) {
        if (reset) {
            reset(channel);
        } else {
            var _ = channel.close();
        }
    }

    /** So that neither side takes it for a whole answer. */
    public static void reset(Channel channel) {
        if (channel.isOpen()) {
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
            var _ = channel.close();
        }
    }

    /** Keeps a record of this connection. */
    public void audit(Verdict verdict, EgressReason reason, Consumer<Audit.Builder> more) {
        Audit.Builder record =
                Audit.newBuilder()
                        .setVerdict(verdict.name())
                        .setKind(kind())
                        .setName(target.name().orElse(""))
                        .setAddress(address())
                        .setPort(target.port())
                        .setReason(reason.name())
                        .setRule(decision.rule().orElse(""))
                        .setConnection(id);
        more.accept(record);
        if (record.getEnded()) {
            record.setBytesUp(up)
                    .setBytesDown(down)
                    .setDurationMillis((System.nanoTime() - startNanos) / 1_000_000);
        }
        home.audit(record);
    }

    private Kind kind() {
        return switch (decision.check()) {
            case NONE -> Kind.TCP;
            case TLS_NAME, TLS_REQUESTS -> Kind.TLS;
            case HTTP_REQUESTS -> Kind.HTTP;
        };
    }

    /** Where it is connected to; the sandbox's own wish where that is an address. */
    private String address() {
        if (upstream != null && upstream.remoteAddress() instanceof InetSocketAddress there) {
            return there.getAddress().getHostAddress();
        }
        return target.name().isPresent() ? "" : target.host();
    }
}
