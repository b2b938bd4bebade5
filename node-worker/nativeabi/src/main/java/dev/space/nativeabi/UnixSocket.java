package dev.space.nativeabi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.space.nativeabi.raw.Layouts;
import dev.space.nativeabi.raw.Libc;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A unix stream socket whose messages can carry descriptors, which the JDK's cannot. Every transfer
 * has a deadline. One thread at a time, except for close.
 */
public final class UnixSocket implements AutoCloseable {

    /** Descriptors of one message; more is refused. */
    public static final int DESCRIPTORS_MAX = 8;

    private static final int CONTROL_BYTES =
            (int) Layouts.CMSGHDR.byteSize() + DESCRIPTORS_MAX * Integer.BYTES;

    private final Descriptor socket;
    private final String name;

    private UnixSocket(Descriptor socket, String name) {
        this.socket = socket;
        this.name = name;
    }

    /** Waits for connections on a new socket file; whoever may open it is the caller's to say. */
    public static UnixSocket listen(Path path, int backlog) throws IOException {
        UnixSocket made = open(path);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = address(arena, path);
            long _ =
                    made.call(
                            "bind",
                            (state, fd) ->
                                    (int)
                                            Libc.BIND.invokeExact(
                                                    state, fd, address, (int) address.byteSize()));
            long _ =
                    made.call(
                            "listen",
                            (state, fd) -> (int) Libc.LISTEN.invokeExact(state, fd, backlog));
            return made;
        } catch (IOException | RuntimeException e) {
            made.close();
            throw e;
        }
    }

    public static UnixSocket connect(Path path) throws IOException {
        UnixSocket made = open(path);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = address(arena, path);
            long _ =
                    made.call(
                            "connect",
                            (state, fd) ->
                                    (int)
                                            Libc.CONNECT.invokeExact(
                                                    state, fd, address, (int) address.byteSize()));
            return made;
        } catch (IOException | RuntimeException e) {
            made.close();
            throw e;
        }
    }

    private static UnixSocket open(Path path) throws IOException {
        int type = Libc.SOCK_STREAM | Libc.SOCK_CLOEXEC | Libc.SOCK_NONBLOCK;
        long fd =
                Calls.checked(
                        "socket",
                        path.toString(),
                        state -> (int) Libc.SOCKET.invokeExact(state, Libc.AF_UNIX, type, 0));
        return new UnixSocket(new Descriptor((int) fd), path.toString());
    }

    private static MemorySegment address(Arena arena, Path path) throws IOException {
        byte[] bytes = path.toString().getBytes(StandardCharsets.UTF_8);
        long offset = Layouts.offset(Layouts.SOCKADDR_UN, "sun_path");
        if (bytes.length >= Layouts.SOCKADDR_UN.byteSize() - offset) {
            throw new IOException(path + " is too long for the name of a socket");
        }
        MemorySegment address = arena.allocate(Layouts.SOCKADDR_UN);
        address.set(
                JAVA_SHORT,
                Layouts.offset(Layouts.SOCKADDR_UN, "sun_family"),
                (short) Libc.AF_UNIX);
        MemorySegment.copy(bytes, 0, address, JAVA_BYTE, offset, bytes.length);
        return address;
    }

    /** The next connection, or null when none came in time. */
    public @Nullable UnixSocket accept(Duration timeout) throws IOException {
        if (!ready(Libc.POLLIN, System.nanoTime() + timeout.toNanos())) {
            return null;
        }
        int flags = Libc.SOCK_CLOEXEC | Libc.SOCK_NONBLOCK;
        try {
            long fd =
                    call(
                            "accept4",
                            (state, own) ->
                                    (int)
                                            Libc.ACCEPT4.invokeExact(
                                                    state,
                                                    own,
                                                    MemorySegment.NULL,
                                                    MemorySegment.NULL,
                                                    flags));
            return new UnixSocket(new Descriptor((int) fd), name);
        } catch (NativeException e) {
            if (e.errno() == NativeException.EAGAIN) {
                return null; // it went away again
            }
            throw e;
        }
    }

    /** Whose process made the other end, as the kernel saw it then. */
    public int peerUid() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment peer = arena.allocate(Layouts.UCRED);
            MemorySegment length = arena.allocateFrom(JAVA_INT, (int) peer.byteSize());
            long _ =
                    call(
                            "getsockopt",
                            (state, fd) ->
                                    (int)
                                            Libc.GETSOCKOPT.invokeExact(
                                                    state,
                                                    fd,
                                                    Libc.SOL_SOCKET,
                                                    Libc.SO_PEERCRED,
                                                    peer,
                                                    length));
            return peer.get(JAVA_INT, Layouts.offset(Layouts.UCRED, "uid"));
        }
    }

    /** Writes all of it; the descriptors go with its first byte and stay open here. */
    public void write(byte[] data, List<Descriptor> descriptors, Duration timeout)
            throws IOException {
        if (data.length == 0 || descriptors.size() > DESCRIPTORS_MAX) {
            throw new IllegalArgumentException("nothing to write, or too many descriptors");
        }
        long deadline = System.nanoTime() + timeout.toNanos();
        int done = 0;
        while (done < data.length) {
            if (!ready(Libc.POLLOUT, deadline)) {
                throw new IOException("the peer at " + name + " took too long");
            }
            done += send(data, done, done == 0 ? descriptors : List.of());
        }
    }

    /**
     * JUSTIFICATION: only sendmsg carries descriptors. SAFETY: all segments live in one confined
     * arena for the call; lengths are those of the segments.
     */
    private int send(byte[] data, int from, List<Descriptor> descriptors) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(data.length - from);
            MemorySegment.copy(data, from, bytes, JAVA_BYTE, 0, data.length - from);
            MemorySegment control = control(arena, descriptors);
            MemorySegment message = message(arena, bytes, control);
            int flags = Libc.MSG_NOSIGNAL | Libc.MSG_DONTWAIT;
            return (int)
                    call(
                            "sendmsg",
                            (state, fd) ->
                                    (long) Libc.SENDMSG.invokeExact(state, fd, message, flags));
        } catch (NativeException e) {
            if (e.errno() == NativeException.EAGAIN) {
                return 0;
            }
            throw e;
        }
    }

    private static MemorySegment control(Arena arena, List<Descriptor> descriptors) {
        if (descriptors.isEmpty()) {
            return MemorySegment.NULL;
        }
        long head = Layouts.CMSGHDR.byteSize();
        long length = head + (long) descriptors.size() * Integer.BYTES;
        MemorySegment control = arena.allocate((length + 7) / 8 * 8, 8);
        control.set(JAVA_LONG, Layouts.offset(Layouts.CMSGHDR, "cmsg_len"), length);
        control.set(JAVA_INT, Layouts.offset(Layouts.CMSGHDR, "cmsg_level"), Libc.SOL_SOCKET);
        control.set(JAVA_INT, Layouts.offset(Layouts.CMSGHDR, "cmsg_type"), Libc.SCM_RIGHTS);
        for (int i = 0; i < descriptors.size(); i++) {
            control.set(JAVA_INT, head + (long) i * Integer.BYTES, descriptors.get(i).number());
        }
        return control;
    }

    private static MemorySegment message(Arena arena, MemorySegment bytes, MemorySegment control) {
        MemorySegment vector = arena.allocate(Layouts.IOVEC);
        vector.set(ADDRESS, Layouts.offset(Layouts.IOVEC, "iov_base"), bytes);
        vector.set(JAVA_LONG, Layouts.offset(Layouts.IOVEC, "iov_len"), bytes.byteSize());
        MemorySegment message = arena.allocate(Layouts.MSGHDR);
        message.set(ADDRESS, Layouts.offset(Layouts.MSGHDR, "msg_iov"), vector);
        message.set(JAVA_LONG, Layouts.offset(Layouts.MSGHDR, "msg_iovlen"), 1);
        message.set(ADDRESS, Layouts.offset(Layouts.MSGHDR, "msg_control"), control);
        message.set(
                JAVA_LONG, Layouts.offset(Layouts.MSGHDR, "msg_controllen"), control.byteSize());
        return message;
    }

    /** Reads exactly so many bytes; descriptors that came with them are added, the caller's now. */
    public byte[] read(int length, List<Descriptor> descriptors, Duration timeout)
            throws IOException {
        long deadline = System.nanoTime() + timeout.toNanos();
        byte[] data = new byte[length];
        int done = 0;
        while (done < length) {
            if (!ready(Libc.POLLIN, deadline)) {
                throw new IOException("the peer at " + name + " took too long");
            }
            done += receive(data, done, descriptors);
        }
        return data;
    }

    /**
     * JUSTIFICATION: only recvmsg takes descriptors. SAFETY: as in send; what the kernel says it
     * wrote is checked against the segments before it is read.
     */
    private int receive(byte[] data, int from, List<Descriptor> descriptors) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(data.length - from);
            MemorySegment control = arena.allocate(CONTROL_BYTES, 8);
            MemorySegment message = message(arena, bytes, control);
            int flags = Libc.MSG_CMSG_CLOEXEC | Libc.MSG_DONTWAIT;
            int read =
                    (int)
                            call(
                                    "recvmsg",
                                    (state, fd) ->
                                            (long)
                                                    Libc.RECVMSG.invokeExact(
                                                            state, fd, message, flags));
            take(message, control, descriptors);
            if (read == 0) {
                throw new EOFException("the peer at " + name + " closed the connection");
            }
            MemorySegment.copy(bytes, JAVA_BYTE, 0, data, from, read);
            return read;
        } catch (NativeException e) {
            if (e.errno() == NativeException.EAGAIN) {
                return 0;
            }
            throw e;
        }
    }

    private void take(MemorySegment message, MemorySegment control, List<Descriptor> into)
            throws IOException {
        long length = message.get(JAVA_LONG, Layouts.offset(Layouts.MSGHDR, "msg_controllen"));
        long head = Layouts.CMSGHDR.byteSize();
        List<Descriptor> came = new ArrayList<>();
        if (length >= head) {
            long used = control.get(JAVA_LONG, Layouts.offset(Layouts.CMSGHDR, "cmsg_len"));
            boolean rights =
                    control.get(JAVA_INT, Layouts.offset(Layouts.CMSGHDR, "cmsg_level"))
                                    == Libc.SOL_SOCKET
                            && control.get(JAVA_INT, Layouts.offset(Layouts.CMSGHDR, "cmsg_type"))
                                    == Libc.SCM_RIGHTS;
            long end = Math.min(used, control.byteSize());
            for (long at = head; rights && at + Integer.BYTES <= end; at += Integer.BYTES) {
                came.add(new Descriptor(control.get(JAVA_INT, at)));
            }
        }
        into.addAll(came);
        int flags = message.get(JAVA_INT, Layouts.offset(Layouts.MSGHDR, "msg_flags"));
        if ((flags & Libc.MSG_CTRUNC) != 0) {
            throw new IOException("the peer at " + name + " sent more descriptors than asked for");
        }
    }

    /** False when the time is up first. */
    private boolean ready(short events, long deadline) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment set = arena.allocate(Layouts.POLLFD);
            set.set(JAVA_INT, Layouts.offset(Layouts.POLLFD, "fd"), socket.number());
            set.set(JAVA_SHORT, Layouts.offset(Layouts.POLLFD, "events"), events);
            long left = Math.max(0, (deadline - System.nanoTime()) / 1_000_000);
            int millis = (int) Math.min(left, Integer.MAX_VALUE);
            return call("poll", (state, _) -> (int) Libc.POLL.invokeExact(state, set, 1L, millis))
                    > 0;
        }
    }

    private interface SocketCall {
        long run(MemorySegment state, int fd) throws Throwable;
    }

    private long call(String what, SocketCall call) throws NativeException {
        int fd = socket.number();
        return Calls.checked(what, name, state -> call.run(state, fd));
    }

    @Override
    public void close() {
        socket.close();
    }
}
