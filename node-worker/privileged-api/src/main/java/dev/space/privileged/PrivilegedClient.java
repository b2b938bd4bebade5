package dev.space.privileged;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Asks node-manager. One connection for each request, so that requests of different threads run
 * side by side and a restarted node-manager is found by itself. Thread-safe.
 *
 * <p>No request is sent twice by this class. All but StartVmm may be repeated at will; StartVmm may
 * be repeated with its start id.
 */
public final class PrivilegedClient {

    /** More than node-manager's own bound for its longest request. */
    public static final Duration TIMEOUT_DEFAULT = Duration.ofSeconds(30);

    private final Path socket;
    private final Duration timeout;

    public PrivilegedClient(Path socket, Duration timeout) {
        this.socket = socket;
        this.timeout = timeout;
    }

    /** Makes the slot; answers its uid, which is its gid too. */
    public int ensureSlot(int slot) throws PrivilegedException {
        return expect(Reply.SlotReady.class, new Request.EnsureSlot(slot)).uid();
    }

    /** Starts the VMM; answers its pid. Its sockets accept connections when this returns. */
    public int startVmm(Request.StartVmm request) throws PrivilegedException {
        return expect(Reply.VmmStarted.class, request).pid();
    }

    public List<SlotInfo> describeSlots() throws PrivilegedException {
        return expect(Reply.Slots.class, new Request.DescribeSlots()).slots();
    }

    public void freezeSlot(int slot) throws PrivilegedException {
        expect(Reply.Done.class, new Request.FreezeSlot(slot));
    }

    public void thawSlot(int slot) throws PrivilegedException {
        expect(Reply.Done.class, new Request.ThawSlot(slot));
    }

    /** Returns when nothing of the slot's VMM runs any more. */
    public void killVmm(int slot) throws PrivilegedException {
        expect(Reply.Done.class, new Request.KillVmm(slot));
    }

    public VmmExit readExit(int slot, long startId) throws PrivilegedException {
        return expect(Reply.Exit.class, new Request.ReadExit(slot, startId)).exit();
    }

    public void releaseSlot(int slot) throws PrivilegedException {
        expect(Reply.Done.class, new Request.ReleaseSlot(slot));
    }

    private <T extends Reply> T expect(Class<T> kind, Request request) throws PrivilegedException {
        Reply reply = exchange(request);
        if (reply instanceof Reply.Refused r) {
            throw new PrivilegedException(r.code(), r.detail());
        }
        if (!kind.isInstance(reply)) {
            throw new PrivilegedException(
                    RefusalCode.UNREACHABLE,
                    "node-manager answered "
                            + reply.getClass().getSimpleName()
                            + " to "
                            + request.getClass().getSimpleName());
        }
        return kind.cast(reply);
    }

    private Reply exchange(Request request) throws PrivilegedException {
        try (SocketChannel socketChannel = SocketChannel.open(UnixDomainSocketAddress.of(socket));
                FrameChannel channel = new FrameChannel(socketChannel)) {
            channel.write(Codec.encode(request), timeout);
            return Codec.decodeReply(channel.read(timeout));
        } catch (IOException | IllegalArgumentException e) {
            throw new PrivilegedException(
                    RefusalCode.UNREACHABLE,
                    "node-manager at " + socket + " does not answer: " + e.getMessage(),
                    e);
        }
    }
}
