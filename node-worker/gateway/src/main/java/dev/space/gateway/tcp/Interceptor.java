package dev.space.gateway.tcp;

import io.netty.channel.Channel;

/** Stands between both sides of a TLS connection and looks at the requests inside. */
@FunctionalInterface
public interface Interceptor {

    /**
     * Takes over, on the connection's loop.
     *
     * @param guest whose next handler gets the ClientHello once the caller has left its pipeline
     * @param hello whose name is the connection's
     */
    void begin(GuestConnection connection, Channel guest, ClientHello hello);
}
