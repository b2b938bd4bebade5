package dev.space.privileged;

import dev.space.nativeabi.Descriptor;
import dev.space.nativeabi.UnixSocket;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The gateway asks node-manager for a slot's sockets. Thread-safe; no state. */
public final class GatewaySocketsClient {

    private final Path socket;
    private final Duration timeout;

    public GatewaySocketsClient(Path socket, Duration timeout) {
        this.socket = socket;
        this.timeout = timeout;
    }

    /**
     * New sockets; NO_SLOT when the slot does not exist, SLOT_BUSY while others still hold its
     * ports.
     */
    public SlotSockets issue(int slot) throws PrivilegedException {
        List<Descriptor> came = new ArrayList<>();
        boolean handedOver = false;
        try (UnixSocket connection = UnixSocket.connect(socket)) {
            SocketFrames.write(connection, Codec.encodeIssueSockets(slot), List.of(), timeout);
            Reply reply = Codec.decodeReply(SocketFrames.read(connection, came, timeout));
            if (reply instanceof Reply.Refused r) {
                throw new PrivilegedException(r.code(), r.detail());
            }
            boolean ours = reply instanceof Reply.SocketsIssued issued && issued.slot() == slot;
            if (!ours || came.size() != 2) {
                throw new IOException("it answered " + reply + " with " + came.size() + " sockets");
            }
            handedOver = true;
            return new SlotSockets(came.getFirst(), came.getLast());
        } catch (IOException | IllegalArgumentException e) {
            throw new PrivilegedException(
                    RefusalCode.UNREACHABLE,
                    "node-manager at " + socket + " gives no sockets: " + e.getMessage(),
                    e);
        } finally {
            if (!handedOver) {
                came.forEach(Descriptor::close);
            }
        }
    }
}
