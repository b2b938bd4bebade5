package dev.space.nativeabi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.space.nativeabi.raw.Layouts;
import dev.space.nativeabi.raw.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Sockets born in another network namespace. They stay there for their whole life, whoever holds
 * them: so a socket says which namespace speaks. Needs CAP_SYS_ADMIN over both namespaces.
 *
 * @param listener a TCP listener
 * @param datagram a UDP socket
 */
public record NamespaceSockets(Descriptor listener, Descriptor datagram) implements AutoCloseable {

    /**
     * Opens both on every address of the namespace, without blocking mode.
     *
     * <p>JUSTIFICATION: the namespace of a socket is that of the thread that makes it. SAFETY: a
     * platform thread of its own enters the namespace, and ends without leaving it: no other code
     * can ever run there.
     *
     * @param namespace file that stands for it, as in /run/netns
     */
    public static NamespaceSockets open(Path namespace, int tcpPort, int backlog, int udpPort)
            throws IOException {
        CompletableFuture<NamespaceSockets> opened = new CompletableFuture<>();
        Thread.ofPlatform()
                .name("netns")
                .daemon()
                .start(() -> {
                    try {
                        opened.complete(enterAndOpen(namespace, tcpPort, backlog, udpPort));
                    } catch (IOException | RuntimeException | Error e) {
                        opened.completeExceptionally(e);
                    }
                });
        try {
            return opened.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof NativeException known) {
                throw known;
            }
            throw new IOException("no sockets in " + namespace, e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            var _ = opened.thenAccept(NamespaceSockets::close);
            throw new IOException("interrupted", e);
        }
    }

    private static NamespaceSockets enterAndOpen(
            Path namespace, int tcpPort, int backlog, int udpPort) throws IOException {
        try (NativeFile file = NativeFile.open(namespace, Libc.O_RDONLY, 0)) {
            long _ =
                    Calls.checked(
                            "setns",
                            namespace.toString(),
                            state ->
                                    (int)
                                            Libc.SETNS.invokeExact(
                                                    state, file.descriptor(), Libc.CLONE_NEWNET));
        }
        Descriptor listener = bound(Libc.SOCK_STREAM, tcpPort);
        try {
            long _ =
                    Calls.checked(
                            "listen",
                            "TCP port " + tcpPort,
                            state ->
                                    (int)
                                            Libc.LISTEN.invokeExact(
                                                    state, listener.number(), backlog));
            return new NamespaceSockets(listener, bound(Libc.SOCK_DGRAM, udpPort));
        } catch (IOException | RuntimeException e) {
            listener.close();
            throw e;
        }
    }

    private static Descriptor bound(int type, int port) throws IOException {
        String subject = (type == Libc.SOCK_STREAM ? "TCP port " : "UDP port ") + port;
        int flags = type | Libc.SOCK_NONBLOCK | Libc.SOCK_CLOEXEC;
        Descriptor socket =
                new Descriptor(
                        (int)
                                Calls.checked(
                                        "socket",
                                        subject,
                                        state ->
                                                (int)
                                                        Libc.SOCKET.invokeExact(
                                                                state, Libc.AF_INET, flags, 0)));
        try (Arena arena = Arena.ofConfined()) {
            if (type == Libc.SOCK_STREAM) {
                // Connections of a gateway that was killed may linger on the port.
                MemorySegment yes = arena.allocateFrom(JAVA_INT, 1);
                long _ =
                        Calls.checked(
                                "setsockopt",
                                subject,
                                state ->
                                        (int)
                                                Libc.SETSOCKOPT.invokeExact(
                                                        state,
                                                        socket.number(),
                                                        Libc.SOL_SOCKET,
                                                        Libc.SO_REUSEADDR,
                                                        yes,
                                                        (int) yes.byteSize()));
            }
            MemorySegment address = arena.allocate(Layouts.SOCKADDR_IN);
            address.set(
                    JAVA_SHORT,
                    Layouts.offset(Layouts.SOCKADDR_IN, "sin_family"),
                    (short) Libc.AF_INET);
            address.set(
                    JAVA_SHORT.withOrder(java.nio.ByteOrder.BIG_ENDIAN),
                    Layouts.offset(Layouts.SOCKADDR_IN, "sin_port"),
                    (short) port);
            long _ =
                    Calls.checked(
                            "bind",
                            subject,
                            state ->
                                    (int)
                                            Libc.BIND.invokeExact(
                                                    state,
                                                    socket.number(),
                                                    address,
                                                    (int) address.byteSize()));
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    @Override
    public void close() {
        listener.close();
        datagram.close();
    }
}
