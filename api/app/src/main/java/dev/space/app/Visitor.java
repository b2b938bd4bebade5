package dev.space.app;

import dev.space.model.Limits;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.ScheduledFuture;
import io.vertx.core.http.HttpVersion;
import io.vertx.ext.web.RoutingContext;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection and how it behaves. Everything but what {@link Doorman} compares is touched by the
 * connection's own event loop alone.
 */
final class Visitor extends ChannelInboundHandlerAdapter {
    private static final long LOOK_MILLIS = 1000;

    private final Channel channel;
    private final Consumer<Visitor> gone;
    private final Consumer<String> cut;
    private @Nullable ScheduledFuture<?> looks;
    private @Nullable BodyWatch body;
    private long headSince;
    private boolean multiplexed;
    private final AtomicInteger requests = new AtomicInteger();
    private volatile long quietSince = System.nanoTime();

    Visitor(Channel channel, Consumer<Visitor> gone, Consumer<String> cut) {
        this.channel = channel;
        this.gone = gone;
        this.cut = cut;
    }

    /** Without any request, finished or begun. */
    boolean isIdle() {
        return requests.get() == 0;
    }

    long quietSinceNanos() {
        return quietSince;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        // Before the first byte of a new one; one that is open already is adopted with a request.
        if (channel.isRegistered()) {
            look();
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        look();
        context.fireChannelActive();
    }

    private void look() {
        if (looks == null) {
            looks =
                    channel.eventLoop()
                            .scheduleAtFixedRate(
                                    this::judge, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object input) {
        if (requests.get() == 0) {
            quietSince = System.nanoTime();
            if (headSince == 0 && !multiplexed) {
                headSince = quietSince;
            }
        }
        context.fireChannelRead(input);
    }

    /** The head of a request is complete. */
    void begins(RoutingContext request) {
        headSince = 0;
        multiplexed = request.request().version() == HttpVersion.HTTP_2;
        var _ = requests.incrementAndGet();
        if (body == null && !multiplexed) {
            body = BodyWatch.of(channel);
        }
        request.addEndHandler(_ -> channel.eventLoop().execute(this::ended));
    }

    private void ended() {
        var _ = requests.decrementAndGet();
        quietSince = System.nanoTime();
    }

    private void judge() {
        long now = System.nanoTime();
        if (requests.get() == 0) {
            if (headSince != 0 && passed(headSince, now) > Limits.HTTP_HEAD_MILLIS_MAX) {
                cut("slow head");
            } else if (passed(quietSince, now) > Limits.HTTP_IDLE_MILLIS_MAX) {
                cut("idle");
            }
            return;
        }
        BodyWatch watch = body;
        if (watch != null && watch.isLate(channel, LOOK_MILLIS)) {
            cut("slow body");
        }
    }

    private static long passed(long since, long now) {
        return TimeUnit.NANOSECONDS.toMillis(now - since);
    }

    void cut(String why) {
        cut.accept(why);
        var _ = channel.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        ScheduledFuture<?> looking = looks;
        if (looking != null) {
            var _ = looking.cancel(false);
        }
        gone.accept(this);
        context.fireChannelInactive();
    }
}
