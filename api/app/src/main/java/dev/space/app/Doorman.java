package dev.space.app;

import dev.space.model.ErrorCode;
import dev.space.model.Limits;
import dev.space.service.problem.Problems;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.net.impl.ConnectionBase;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Comparator;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps slow and idle clients from taking the place of others. The server itself only knows one
 * time-out for connections, which must be longer than the longest command; this one knows whether a
 * connection has a request, and how fast it comes ({@link Visitor}). It stands at the listening
 * socket from the first request on, which is the readiness probe.
 */
@Singleton
public class Doorman {
    /** Before everything else that looks at a request. */
    private static final int FIRST = 10_000;

    private final Set<Visitor> visitors = ConcurrentHashMap.newKeySet();
    private final Door door = new Door();
    private final MeterRegistry metrics;

    @Inject
    public Doorman(MeterRegistry metrics) {
        this.metrics = metrics;
        var _ =
                Gauge.builder("space_connections", visitors, Set::size)
                        .description("Open connections to this process")
                        .register(metrics);
    }

    void register(@Observes Filters filters) {
        filters.register(this::request, FIRST);
    }

    private void request(RoutingContext request) {
        if (request.request().connection() instanceof ConnectionBase connection) {
            Channel channel = connection.channel();
            stand(channel.parent());
            visitor(channel).begins(request);
        }
        request.next();
    }

    private synchronized void stand(@Nullable Channel listening) {
        if (listening != null && listening.pipeline().context(door) == null) {
            listening.pipeline().addFirst(door);
        }
    }

    private Visitor visitor(Channel channel) {
        Visitor known = channel.pipeline().get(Visitor.class);
        return known == null ? let(channel) : known;
    }

    private Visitor let(Channel channel) {
        Visitor visitor = new Visitor(channel, visitors::remove, this::count);
        visitors.add(visitor);
        channel.pipeline().addFirst(visitor);
        return visitor;
    }

    private void count(String why) {
        metrics.counter("space_connections_cut", "why", why).increment();
    }

    /** Sees each connection before the server does. */
    @Sharable
    private final class Door extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object accepted) {
            if (accepted instanceof Channel channel) {
                if (visitors.size() < Limits.HTTP_CONNECTIONS_MAX || makesRoom()) {
                    var _ = let(channel);
                } else {
                    count("refused");
                    channel.pipeline().addFirst(new Refusal(refusal()));
                }
            }
            context.fireChannelRead(accepted);
        }
    }

    /** The one that is idle longest gives way; its client connects again when it needs to. */
    private boolean makesRoom() {
        Optional<Visitor> longest =
                visitors.stream()
                        .filter(Visitor::isIdle)
                        .min(Comparator.comparingLong(Visitor::quietSinceNanos));
        longest.ifPresent(visitor -> {
            visitors.remove(visitor);
            visitor.cut("gave way");
        });
        return longest.isPresent();
    }

    /** As the interface itself would answer, but it never sees the connection. */
    private static String refusal() {
        ErrorCode code = ErrorCode.LIMIT_EXCEEDED;
        String body =
                ("{\"type\":\"urn:space:error:%1$s\",\"title\":\"%2$s\",\"status\":%3$d,"
                                + "\"detail\":\"%4$d connections have a request in progress; use"
                                + " fewer or try again later\",\"code\":\"%1$s\"}")
                        .formatted(
                                code,
                                code.summary(),
                                code.httpStatus(),
                                Limits.HTTP_CONNECTIONS_MAX);
        return ("HTTP/1.1 %d Too Many Requests\r\nRetry-After: 1\r\nConnection: close\r\n"
                        + "Content-Type: %s\r\nContent-Length: %d\r\n\r\n%s")
                .formatted(code.httpStatus(), Problems.TYPE, body.length(), body);
    }
}
