package dev.space.gateway.slot;

import dev.space.gateway.dns.DnsResponder;
import dev.space.gateway.net.Upstream;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/** A bound slot with its sockets and its loop: the bridge from callers' threads to that loop. */
final class OpenSlot {

    private static final int DATAGRAM_BYTES_MAX = 4096;
    private static final long TICK_MILLIS = 250;
    private static final long LOOP_SECONDS_MAX = 5;

    private final EventLoop loop;
    private final BoundSlot bound;
    private final Channel listener;
    private final Channel dns;
    private final ScheduledFuture<?> ticks;

    private OpenSlot(
            EventLoop loop,
            BoundSlot bound,
            Channel listener,
            Channel dns,
            ScheduledFuture<?> ticks) {
        this.loop = loop;
        this.bound = bound;
        this.listener = listener;
        this.dns = dns;
        this.ticks = ticks;
    }

    /** Adopts the sockets: they are closed with the slot, or here when this fails. */
    static OpenSlot open(EventLoop loop, BoundSlot bound, SocketSource.Sockets sockets) {
        ChannelFuture listening =
                new ServerBootstrap()
                        .group(loop, loop)
                        .channelFactory(() -> new EpollServerSocketChannel(sockets.tcp()))
                        .childOption(ChannelOption.AUTO_READ, false)
                        .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                        .option(ChannelOption.SO_RCVBUF, Upstream.GUEST_BUFFER_BYTES)
                        .childOption(ChannelOption.SO_SNDBUF, Upstream.GUEST_BUFFER_BYTES)
                        .childOption(ChannelOption.TCP_NODELAY, true)
                        .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, Upstream.waterMark())
                        .childOption(ChannelOption.RCVBUF_ALLOCATOR, Upstream.readSize())
                        .childHandler(new Accepting(bound))
                        .register();
        ChannelFuture answering =
                new Bootstrap()
                        .group(loop)
                        .channelFactory(() -> new EpollDatagramChannel(sockets.dns()))
                        .option(
                                ChannelOption.RCVBUF_ALLOCATOR,
                                new FixedRecvByteBufAllocator(DATAGRAM_BYTES_MAX))
                        .handler(new DnsResponder(bound))
                        .register();
        boolean both =
                listening.awaitUninterruptibly(LOOP_SECONDS_MAX, TimeUnit.SECONDS)
                        && answering.awaitUninterruptibly(LOOP_SECONDS_MAX, TimeUnit.SECONDS)
                        && listening.isSuccess()
                        && answering.isSuccess();
        if (!both) {
            var _ = listening.channel().close();
            var _ = answering.channel().close();
            throw new SpaceException(
                    ErrorCode.UNAVAILABLE,
                    "the slot's sockets cannot be used: "
                            + listening.cause()
                            + ", "
                            + answering.cause());
        }
        ScheduledFuture<?> ticks =
                loop.scheduleWithFixedDelay(
                        bound::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
        return new OpenSlot(loop, bound, listening.channel(), answering.channel(), ticks);
    }

    /** Hands each new connection to the slot and leaves its pipeline to it. */
    @ChannelHandler.Sharable
    private static final class Accepting extends ChannelInboundHandlerAdapter {

        private final BoundSlot bound;

        Accepting(BoundSlot bound) {
            this.bound = bound;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.pipeline().remove(this);
            bound.accept(ctx.channel());
        }
    }

    /** Whether both sockets still serve. */
    boolean isOpen() {
        return listener.isOpen() && dns.isOpen();
    }

    /** Runs on the slot's loop and waits for it. */
    <T> T call(Function<BoundSlot, T> task) {
        return onLoop(loop, () -> task.apply(bound));
    }

    /** Stops both sockets, then every connection; when it returns nothing of the slot is open. */
    void close() {
        ticks.cancel(false);
        listener.close().awaitUninterruptibly(LOOP_SECONDS_MAX, TimeUnit.SECONDS);
        dns.close().awaitUninterruptibly(LOOP_SECONDS_MAX, TimeUnit.SECONDS);
        boolean _ =
                call(b -> {
                    b.end();
                    return true;
                });
    }

    static <T> T onLoop(EventLoop loop, Callable<T> task) {
        try {
            return loop.submit(task).get(LOOP_SECONDS_MAX, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SpaceException(ErrorCode.UNAVAILABLE, "interrupted", e);
        } catch (TimeoutException e) {
            throw new SpaceException(
                    ErrorCode.UNAVAILABLE, "the gateway is too busy with this slot", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("a slot's task failed", e.getCause());
        }
    }
}
