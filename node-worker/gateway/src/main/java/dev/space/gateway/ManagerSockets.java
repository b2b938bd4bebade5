package dev.space.gateway;

import dev.space.gateway.slot.SocketSource;
import dev.space.privileged.GatewaySocketsClient;
import dev.space.privileged.PrivilegedException;
import dev.space.privileged.SlotSockets;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** Slots' sockets as node-manager opens them. */
final class ManagerSockets implements SocketSource {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final GatewaySocketsClient client;

    ManagerSockets(Path socket) {
        client = new GatewaySocketsClient(socket, TIMEOUT);
    }

    @Override
    public Sockets issue(int slot) throws IOException {
        try (SlotSockets sockets = client.issue(slot)) {
            return new Sockets(sockets.listener().take(), sockets.datagram().take());
        } catch (PrivilegedException e) {
            throw new IOException(e.code() + ": " + e.getMessage(), e);
        }
    }
}
