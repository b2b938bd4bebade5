package dev.space.gateway.net;

import dev.space.model.egress.EgressReason;
import dev.space.model.egress.Ipv4;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.resolver.NoopAddressResolverGroup;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.DefaultDnsCache;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.SequentialDnsServerAddressStreamProvider;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Resolves and connects. What the guest believes a name to be is of no interest here; the address
 * that is connected to is the one that was judged.
 */
public final class Upstream implements AutoCloseable {

    /** What one direction holds when its other side is slow, besides one read. */
    private static final WriteBufferWaterMark WATER_MARK =
            new WriteBufferWaterMark(32 << 10, 64 << 10);

    /** Addresses of one name that are tried. */
    private static final int TRIES_MAX = 3;

    /**
     * The kernel's buffers. Left to itself it gives a slow connection megabytes on each side, and
     * some hundreds of such take the TCP memory of the whole machine.
     */
    private static final int OUTSIDE_RECEIVE_BYTES = 256 << 10;

    private static final int OUTSIDE_SEND_BYTES = 128 << 10;

    /** To the sandbox it is not far: less is as fast. */
    public static final int GUEST_BUFFER_BYTES = 64 << 10;

    private static final int READS_AT_ONCE = 4;
    private static final int CONSOLIDATED_MAX = 1024;
    private static final int QUERIES_MAX = 8;
    private static final int TTL_SECONDS_MAX = 60;
    private static final int NEGATIVE_TTL_SECONDS = 3;

    private final List<InetSocketAddress> resolvers;
    private final Duration resolveTimeout;
    private final Duration connectTimeout;
    private final Reach reach;
    private final Map<EventLoop, DnsNameResolver> byLoop = new ConcurrentHashMap<>();

    public Upstream(
            List<InetSocketAddress> resolvers,
            Duration resolveTimeout,
            Duration connectTimeout,
            Reach reach) {
        this.resolvers = List.copyOf(resolvers);
        this.resolveTimeout = resolveTimeout;
        this.connectTimeout = connectTimeout;
        this.reach = reach;
    }

    /**
     * Connects to a name. The connection reads nothing before it is asked to.
     *
     * @param handler of the connection's first events
     * @return fails with {@link Refusal}
     */
    public Future<Channel> toName(
            EventLoop loop, String name, int port, boolean mayBePrivate, ChannelHandler handler) {
        Promise<Channel> result = loop.newPromise();
        ScheduledFuture<?> timer =
                loop.schedule(
                        () -> result.tryFailure(late(name)),
                        resolveTimeout.toMillis(),
                        TimeUnit.MILLISECONDS);
        resolver(loop)
                .resolveAll(name)
                .addListener((Future<List<InetAddress>> f) -> {
                    if (!timer.cancel(false)) {
                        return;
                    }
                    if (f.isSuccess()) {
                        connect(result, loop, allowed(f.getNow(), port, mayBePrivate), handler);
                    } else {
                        result.tryFailure(unresolved(name, f.cause()));
                    }
                });
        return result;
    }

    /** Connects to an address that the guest named. */
    public Future<Channel> toAddress(
            EventLoop loop, int address, int port, boolean mayBePrivate, ChannelHandler handler) {
        Promise<Channel> result = loop.newPromise();
        boolean fits = reach.allows(address, port, mayBePrivate);
        List<InetSocketAddress> to = fits ? List.of(socketAddress(address, port)) : List.of();
        connect(result, loop, to, handler);
        return result;
    }

    private static Refusal late(String name) {
        return new Refusal(
                EgressReason.NAME_UNRESOLVED, name + ": the resolver did not answer in time");
    }

    private static Refusal unresolved(String name, Throwable cause) {
        String why = cause.getMessage() == null ? cause.toString() : cause.getMessage();
        return new Refusal(EgressReason.NAME_UNRESOLVED, name + ": " + why);
    }

    private List<InetSocketAddress> allowed(
            List<InetAddress> resolved, int port, boolean mayBePrivate) {
        List<InetSocketAddress> allowed = new ArrayList<>();
        for (InetAddress one : resolved) {
            if (one instanceof Inet4Address v4) {
                int address = ByteBuffer.wrap(v4.getAddress()).getInt();
                if (reach.allows(address, port, mayBePrivate) && allowed.size() < TRIES_MAX) {
                    allowed.add(socketAddress(address, port));
                }
            }
        }
        return allowed;
    }

    private static InetSocketAddress socketAddress(int address, int port) {
        try {
            byte[] bytes = ByteBuffer.allocate(Integer.BYTES).putInt(address).array();
            return new InetSocketAddress(InetAddress.getByAddress(Ipv4.text(address), bytes), port);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("four bytes are an address", e);
        }
    }

    /** One after the other; the last failure is told. */
    private void connect(
            Promise<Channel> result,
            EventLoop loop,
            List<InetSocketAddress> to,
            ChannelHandler handler) {
        if (to.isEmpty()) {
            result.tryFailure(
                    new Refusal(
                            EgressReason.ADDRESS_FORBIDDEN,
                            EgressReason.ADDRESS_FORBIDDEN.summary()));
            return;
        }
        ChannelFuture attempt = bootstrap(loop, handler).connect(to.getFirst());
        attempt.addListener((ChannelFuture f) -> {
            if (f.isSuccess()) {
                if (!result.trySuccess(f.channel())) {
                    var _ = f.channel().close();
                }
            } else if (to.size() > 1 && !result.isCancelled()) {
                connect(result, loop, to.subList(1, to.size()), handler);
            } else {
                result.tryFailure(
                        new Refusal(
                                EgressReason.CONNECT_FAILED,
                                String.valueOf(f.cause().getMessage())));
            }
        });
    }

    private Bootstrap bootstrap(EventLoop loop, ChannelHandler handler) {
        return configured(new Bootstrap().group(loop).channel(EpollSocketChannel.class))
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) connectTimeout.toMillis())
                .resolver(NoopAddressResolverGroup.INSTANCE)
                .handler(handler);
    }

    private static Bootstrap configured(Bootstrap bootstrap) {
        return bootstrap
                .option(ChannelOption.AUTO_READ, false)
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.SO_KEEPALIVE, true)
                .option(ChannelOption.SO_RCVBUF, OUTSIDE_RECEIVE_BYTES)
                .option(ChannelOption.SO_SNDBUF, OUTSIDE_SEND_BYTES)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
                .option(ChannelOption.RCVBUF_ALLOCATOR, readSize());
    }

    /**
     * How much one turn of reading takes in, on both sides: with the water mark this bounds a
     * connection. It follows what comes, so that many small pieces are not kept in large buffers.
     */
    public static RecvByteBufAllocator readSize() {
        AdaptiveRecvByteBufAllocator size = new AdaptiveRecvByteBufAllocator(64, 2048, 32 << 10);
        return size.maxMessagesPerRead(READS_AT_ONCE);
    }

    /** The same mark for the guest's side. */
    public static WriteBufferWaterMark waterMark() {
        return WATER_MARK;
    }

    private DnsNameResolver resolver(EventLoop loop) {
        return byLoop.computeIfAbsent(loop, this::newResolver);
    }

    /** Asks the operator's resolvers only: no hosts file, no search domains, no IPv6. */
    private DnsNameResolver newResolver(EventLoop loop) {
        return new DnsNameResolverBuilder(loop)
                .datagramChannelType(EpollDatagramChannel.class)
                .socketChannelType(EpollSocketChannel.class, false)
                .nameServerProvider(new SequentialDnsServerAddressStreamProvider(resolvers))
                .resolvedAddressTypes(ResolvedAddressTypes.IPV4_ONLY)
                .hostsFileEntriesResolver((_, _) -> null)
                .searchDomains(List.of())
                .ndots(1)
                .queryTimeoutMillis(Math.max(1, resolveTimeout.toMillis() / 2))
                .maxQueriesPerResolve(QUERIES_MAX)
                // Many connections to one name at once ask once.
                .consolidateCacheSize(CONSOLIDATED_MAX)
                .resolveCache(new DefaultDnsCache(0, TTL_SECONDS_MAX, NEGATIVE_TTL_SECONDS))
                .build();
    }

    @Override
    public void close() {
        byLoop.values().forEach(DnsNameResolver::close);
    }
}
