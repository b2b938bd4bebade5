package dev.space.guest.channel;

import com.google.protobuf.ByteString;
import dev.space.guest.protocol.Reply;
import dev.space.guest.protocol.Request;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One connection to the daemon in a sandbox, over an already connected socket.
 *
 * <p>Threads: one small platform thread per channel reads; callers write in their own thread, and
 * block on locks only, so virtual threads are welcome. Any number of threads may use a channel.
 *
 * <p>Before anything else comes {@link #handshake}; it may be repeated (after a restore on the same
 * connection), which ends every stream. When the channel fails once, it is over: every waiting and
 * later call gets GUEST_UNREACHABLE; open a new one and handshake again. When a handshake gets no
 * answer within about a second, close and reconnect: a port can stay stuck after a restore.
 */
public final class GuestChannel implements AutoCloseable {

    /** How long a request may wait for room behind what others are sending. */
    private static final Duration ROOM_TIMEOUT = Duration.ofSeconds(10);

    /** Guards everything below and the decoder; a stream's fields too. */
    final ReentrantLock lock = new ReentrantLock();

    private final SocketPump pump;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();

    private final Condition established = lock.newCondition();
    private final FrameDecoder decoder = new FrameDecoder();
    private final Map<Integer, GuestStream> streams = new HashMap<>();
    private final CompletableFuture<SpaceException> ended = new CompletableFuture<>();
    private int lastStream;
    private boolean ready;
    private @Nullable SpaceException failure;

    private GuestChannel(SocketChannel socket, InstantSource clock) throws IOException {
        this.clock = clock;
        this.pump = new SocketPump(socket, lock, new FromPump());
    }

    /** Takes the socket over and closes it at the end. */
    public static GuestChannel open(SocketChannel connected) {
        return open(connected, InstantSource.system());
    }

    /** As {@link #open(SocketChannel)}, with the clock that handshakes give to the guest. */
    public static GuestChannel open(SocketChannel connected, InstantSource clock) {
        try {
            var channel = new GuestChannel(connected, clock);
            channel.pump.start();
            return channel;
        } catch (IOException e) {
            throw new SpaceException(
                    ErrorCode.GUEST_UNREACHABLE, "the channel's socket cannot be used", e);
        }
    }

    /** Opens a session and waits for the daemon's answer. */
    public void handshake(Handshake handshake, Duration timeout) {
        begin(handshake, null);
        awaitEstablished(timeout);
    }

    /**
     * Opens a session with the first request directly behind, in one write; no extra round trip.
     */
    public Reply handshake(Handshake handshake, Request first, Duration timeout) {
        return handshake(handshake, List.of(first), timeout).getFirst();
    }

    /** Opens a session with several unary requests directly behind; answers in their order. */
    public List<Reply> handshake(Handshake handshake, List<Request> first, Duration timeout) {
        var opened = begin(handshake, first);
        awaitEstablished(timeout);
        try {
            return opened.stream().map(stream -> stream.reply(timeout)).toList();
        } finally {
            opened.forEach(GuestStream::close);
        }
    }

    private List<GuestStream> begin(Handshake handshake, @Nullable List<Request> first) {
        var nonce = new byte[Handshake.NONCE_BYTES];
        var entropy = new byte[Handshake.ENTROPY_BYTES];
        random.nextBytes(nonce);
        random.nextBytes(entropy);
        lock.lock();
        try {
            throwIfFailed();
            endStreams(
                    new SpaceException(
                            ErrorCode.GUEST_UNREACHABLE, "the session with the guest was renewed"));
            ready = false;
            decoder.expect(Handshake.answer(nonce));
            requireRoom(first == null ? List.of() : first);
            pump.restart(handshake.encode(nonce, unixNanos(clock.instant()), entropy));
            var opened =
                    first == null
                            ? List.<GuestStream>of()
                            : first.stream().map(this::register).toList();
            pump.flush();
            return opened;
        } finally {
            lock.unlock();
        }
    }

    private static long unixNanos(Instant now) {
        return Math.addExact(
                Math.multiplyExact(now.getEpochSecond(), 1_000_000_000L), now.getNano());
    }

    private void awaitEstablished(Duration timeout) {
        var deadline = new Deadline(timeout, "the handshake");
        lock.lock();
        try {
            while (!ready) {
                throwIfFailed();
                deadline.await(established);
            }
        } finally {
            lock.unlock();
        }
    }

    /** One request, one reply. */
    public Reply call(Request request, Duration timeout) {
        try (var stream = open(request)) {
            return stream.reply(timeout);
        }
    }

    /**
     * Sends a request and answers at once; the stream gives replies and data. Several can be opened
     * before the first is waited for: the daemon takes them in order.
     */
    public GuestStream open(Request request) {
        return open(List.of(request)).getFirst();
    }

    /** Several requests in one write, which wakes the guest once; all of them or none. */
    public List<GuestStream> open(List<Request> requests) {
        lock.lock();
        try {
            throwIfFailed();
            pump.awaitRoom(new Deadline(ROOM_TIMEOUT, "earlier requests"));
            throwIfFailed();
            requireRoom(requests);
            var opened = requests.stream().map(this::register).toList();
            pump.flush();
            return opened;
        } finally {
            lock.unlock();
        }
    }

    private void requireRoom(List<Request> requests) {
        if (streams.size() + requests.size() > ChannelLimits.STREAMS_MAX) {
            throw new SpaceException(
                    ErrorCode.LIMIT_EXCEEDED,
                    "too many requests to one sandbox at once; wait for some to end");
        }
        for (var request : requests) {
            if (request.getSerializedSize() > ChannelLimits.REQUEST_BYTES_MAX) {
                throw new SpaceException(
                        ErrorCode.INVALID_ARGUMENT,
                        "a request of "
                                + request.getSerializedSize()
                                + " bytes is too long for the guest");
            }
        }
    }

    private GuestStream register(Request request) {
        var payload = request.toByteString();
        var id = lastStream == Integer.MAX_VALUE ? 1 : lastStream + 1;
        lastStream = id;
        var writes = request.hasWriteFile();
        var stream = new GuestStream(this, id, request.getBodyCase().name());
        streams.put(id, stream);
        send(id, FrameType.REQUEST, !writes, payload);
        return stream;
    }

    void send(int stream, FrameType type, boolean end, ByteString payload) {
        pump.enqueue(Frames.encode(stream, type, end, payload.asReadOnlyByteBuffer()));
    }

    void sendData(int stream, boolean end, ByteBuffer payload, Deadline deadline) {
        pump.awaitRoom(deadline);
        throwIfFailed();
        pump.enqueue(Frames.encode(stream, FrameType.DATA, end, payload));
        pump.flush();
    }

    void sendCredit(int stream, int bytes) {
        if (failure == null) {
            pump.enqueue(Frames.credit(stream, bytes));
            pump.flush();
        }
    }

    /** Forgets a stream; tells the daemon when it was not over by itself. */
    void forget(int stream, boolean cancel) {
        if (streams.remove(stream) != null && cancel && failure == null) {
            pump.enqueue(Frames.cancel(stream));
            pump.flush();
        }
    }

    /**
     * Stops all traffic; when this returns, no read or write is running and none begins until the
     * gate is closed. Hold it from before QMP {@code stop} until after the reflinks.
     */
    public Gate gate() {
        return pump.gate();
    }

    /** Completes when the channel is over, with the reason. */
    public CompletableFuture<SpaceException> ended() {
        return ended.copy();
    }

    public boolean isOpen() {
        return !ended.isDone();
    }

    @Override
    public void close() {
        fail(new SpaceException(ErrorCode.GUEST_UNREACHABLE, "the channel was closed"));
    }

    private void fail(SpaceException reason) {
        lock.lock();
        try {
            if (failure != null) {
                return;
            }
            failure = reason;
            endStreams(reason);
            established.signalAll();
            pump.stop();
        } finally {
            lock.unlock();
        }
        ended.complete(reason);
    }

    private void endStreams(SpaceException reason) {
        var open = List.copyOf(streams.values());
        streams.clear();
        open.forEach(stream -> stream.failed(reason));
    }

    private void throwIfFailed() {
        if (failure != null) {
            throw new SpaceException(failure.code(), detail(failure), failure);
        }
    }

    static String detail(SpaceException e) {
        var message = e.getMessage();
        return message == null ? e.code().summary() : message;
    }

    private final class FromPump implements SocketPump.Listener {

        @Override
        public void received(ByteBuffer bytes) {
            lock.lock();
            try {
                if (failure == null) {
                    decoder.feed(bytes, new Dispatch());
                }
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void failed(SpaceException reason) {
            fail(reason);
        }
    }

    /** Runs under the lock, in the reading thread. */
    private final class Dispatch implements FrameDecoder.Sink {

        @Override
        public void established() {
            ready = true;
            established.signalAll();
        }

        @Override
        public void frame(int id, FrameType type, boolean end, byte[] payload) {
            var stream = streams.get(id);
            // A stream that nobody waits for any more: its last frames were under way.
            if (stream != null) {
                stream.accept(type, end, payload);
            }
        }
    }
}
