package dev.space.gateway.intercept;

import dev.space.gateway.credential.SessionCredentials;
import dev.space.gateway.tcp.ByteCount;
import dev.space.gateway.tcp.ClientHello;
import dev.space.gateway.tcp.GuestConnection;
import dev.space.gateway.tcp.Interceptor;
import dev.space.gateway.tls.OutsideTls;
import dev.space.gateway.tls.SessionTls;
import dev.space.model.egress.EgressReason;
import io.netty.channel.Channel;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Looks into the TLS connections of one slot. */
public final class Interception implements Interceptor {

    static final String HTTP_2 = "h2";
    static final String HTTP_1 = "http/1.1";

    private final OutsideTls outside;
    private final SessionTls session;
    private final Supplier<SessionCredentials> credentials;

    /**
     * For one slot.
     *
     * @param credentials of now
     */
    public Interception(
            OutsideTls outside, SessionTls session, Supplier<SessionCredentials> credentials) {
        this.outside = outside;
        this.session = session;
        this.credentials = credentials;
    }

    @Override
    public void begin(GuestConnection connection, Channel guest, ClientHello hello) {
        Holding holding = new Holding(connection::closedByGuest);
        guest.pipeline().addLast(new ByteCount(connection, true)).addLast(holding);
        List<String> offers =
                hello.protocols().isEmpty()
                        ? List.of(HTTP_1)
                        : Stream.of(HTTP_2, HTTP_1).filter(hello.protocols()::contains).toList();
        if (offers.isEmpty()) {
            connection.refuse(EgressReason.HTTP_MALFORMED);
            return;
        }
        RequestRules rules = new RequestRules(connection, credentials);
        new Handshakes(
                        connection,
                        guest,
                        holding,
                        rules,
                        new Handshakes.Offer(offers, !hello.protocols().isEmpty()))
                .begin(outside, session);
    }
}
