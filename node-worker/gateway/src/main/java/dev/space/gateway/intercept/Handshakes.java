package dev.space.gateway.intercept;

import dev.space.gateway.net.Refusal;
import dev.space.gateway.tcp.ByteCount;
import dev.space.gateway.tcp.GuestConnection;
import dev.space.gateway.tls.OutsideTls;
import dev.space.gateway.tls.SessionTls;
import dev.space.model.egress.EgressReason;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLEngine;

/**
 * First TLS to the outside, so that the sandbox is offered the HTTP version that the server speaks,
 * then TLS to the sandbox. Where there is no outside, the sandbox is told so over HTTP.
 */
final class Handshakes {

    private static final Duration HANDSHAKE_MAX = Duration.ofSeconds(10);
    private static final Duration EXPLAINED_WITHIN = Duration.ofSeconds(20);

    /**
     * HTTP versions.
     *
     * @param versions that the sandbox may be given, best first
     * @param named the sandbox said so itself
     */
    record Offer(List<String> versions, boolean named) {

        boolean has(String version) {
            return versions.contains(version);
        }
    }

    private final GuestConnection connection;
    private final Channel guest;
    private final Holding holding;
    private final RequestRules rules;
    private final Offer offer;

    Handshakes(
            GuestConnection connection,
            Channel guest,
            Holding holding,
            RequestRules rules,
            Offer offer) {
        this.connection = connection;
        this.guest = guest;
        this.holding = holding;
        this.rules = rules;
        this.offer = offer;
    }

    void begin(OutsideTls outsideTls, SessionTls sessionTls) {
        String host = connection.target().host();
        int port = connection.target().port();
        SSLEngine engine;
        try {
            engine = outsideTls.engine(host, port, offer.named() ? offer.versions() : List.of());
        } catch (IllegalArgumentException e) {
            connection.refuse(EgressReason.TLS_NAME_MISMATCH);
            return;
        }
        if (sessionTls.engine(host, port, "").isEmpty()) {
            connection.refuse(EgressReason.INTERCEPTION_OFF);
            return;
        }
        connection.connect(
                new ChannelInboundHandlerAdapter(),
                outside -> secure(outside, engine, sessionTls),
                failure -> {
                    connection.failed(failure);
                    explain(failure, sessionTls);
                });
    }

    private void secure(Channel outside, SSLEngine engine, SessionTls sessionTls) {
        SslHandler tls = handler(engine);
        tls.handshakeFuture()
                .addListener((Future<Channel> f) -> {
                    if (f.isSuccess()) {
                        agreed(outside, engine.getApplicationProtocol(), sessionTls);
                    } else if (outside.isOpen() && guest.isOpen()) {
                        Refusal failure = refusal(f.cause());
                        connection.failedInside(failure);
                        explain(failure, sessionTls);
                    }
                });
        outside.pipeline().addFirst(tls).addFirst(new ByteCount(connection, false));
        outside.read();
    }

    private static Refusal refusal(Throwable cause) {
        Throwable root = cause.getCause() == null ? cause : cause.getCause();
        return new Refusal(EgressReason.TLS_UNTRUSTED, String.valueOf(root.getMessage()));
    }

    private static SslHandler handler(SSLEngine engine) {
        SslHandler tls = new SslHandler(engine);
        tls.setHandshakeTimeoutMillis(HANDSHAKE_MAX.toMillis());
        return tls;
    }

    private void agreed(Channel outside, String version, SessionTls sessionTls) {
        boolean two = version.equals(Interception.HTTP_2);
        if (!two && !offer.has(Interception.HTTP_1)) {
            Refusal failure =
                    new Refusal(EgressReason.CONNECT_FAILED, "the server speaks no HTTP/2");
            connection.failedInside(failure);
            explain(failure, sessionTls);
            return;
        }
        welcome(
                two,
                sessionTls,
                () -> {
                    if (two) {
                        Http2Sides.join(connection, rules, guest, outside);
                    } else {
                        Http1Sides.join(connection, rules, guest, outside);
                    }
                });
    }

    /** The server cannot be reached, or is not whom it should be. */
    private void explain(Refusal failure, SessionTls sessionTls) {
        connection.hurry(EXPLAINED_WITHIN);
        boolean two = !offer.has(Interception.HTTP_1);
        RequestRules refusing = rules.unreachable(failure);
        welcome(
                two,
                sessionTls,
                () -> {
                    if (two) {
                        Http2Sides.alone(connection, refusing, guest);
                    } else {
                        Http1Sides.alone(connection, refusing, guest);
                    }
                });
    }

    /** TLS to the sandbox begins with what was held; what is inside is ready before. */
    private void welcome(boolean two, SessionTls sessionTls, Runnable inside) {
        String version = two ? Interception.HTTP_2 : offer.named() ? Interception.HTTP_1 : "";
        Optional<SSLEngine> engine =
                sessionTls.engine(connection.target().host(), connection.target().port(), version);
        if (engine.isEmpty()) {
            connection.end(EgressReason.POLICY_CHANGED);
            return;
        }
        SslHandler tls = handler(engine.get());
        tls.handshakeFuture()
                .addListener((Future<Channel> f) -> {
                    if (!f.isSuccess() && guest.isOpen()) {
                        connection.failedInside(
                                new Refusal(
                                        EgressReason.TLS_CLIENT_FAILED,
                                        String.valueOf(f.cause().getMessage())));
                        connection.broke();
                    }
                });
        String name = guest.pipeline().context(holding).name();
        guest.pipeline().addAfter(name, "space-tls", tls);
        inside.run();
        guest.pipeline().remove(holding);
        guest.read();
    }
}
