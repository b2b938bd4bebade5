package dev.space.guest.channel;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes between the socket and memory: a thread that reads, a bounded queue of what is to be
 * written, and the gate. Everything but the reading itself happens under the channel's lock.
 */
final class SocketPump {

    /** Called by the reading thread. */
    interface Listener {
        void received(ByteBuffer bytes);

        void failed(SpaceException reason);
    }

    private static final int READ_BYTES = 64 << 10;
    private static final int STACK_BYTES = 256 << 10;
    private static final int WRITES_TOGETHER = 16;

    private final SocketChannel socket;
    private final Listener listener;
    private final ReentrantLock lock;
    private final Condition room;
    private final Selector selector;
    private final SelectionKey key;

    /** Held while a read runs, so that the gate can wait for its end. */
    private final ReentrantLock reading = new ReentrantLock();

    private final ArrayDeque<ByteBuffer> pending = new ArrayDeque<>();
    private int pendingBytes;
    private final AtomicInteger gates = new AtomicInteger();
    private volatile boolean stopped;

    SocketPump(SocketChannel socket, ReentrantLock lock, Listener listener) throws IOException {
        this.socket = socket;
        this.lock = lock;
        this.listener = listener;
        this.room = lock.newCondition();
        socket.configureBlocking(false);
        selector = Selector.open();
        key = socket.register(selector, SelectionKey.OP_READ);
    }

    void start() {
        // A platform thread: a selector would hold a virtual thread's carrier while it waits.
        Thread.ofPlatform().name("guest-channel").daemon().stackSize(STACK_BYTES).start(this::run);
    }

    private void run() {
        try {
            pump();
        } catch (IOException e) {
            listener.failed(lost("the connection to the guest's daemon broke", e));
        } catch (SpaceException e) {
            listener.failed(e);
        } catch (RuntimeException e) {
            listener.failed(lost("the channel's reader failed", e));
        } finally {
            closeAll();
        }
    }

    private void pump() throws IOException {
        var buffer = ByteBuffer.allocateDirect(READ_BYTES);
        while (!stopped) {
            selector.select();
            selector.selectedKeys().clear();
            lock.lock();
            try {
                writePending();
                // Level-triggered readiness would make this spin behind a closed gate.
                key.interestOps(gates.get() > 0 ? 0 : interest());
            } finally {
                lock.unlock();
            }
            if (readOnce(buffer)) {
                listener.received(buffer.flip());
            }
        }
    }

    private int interest() {
        return SelectionKey.OP_READ | (pending.isEmpty() ? 0 : SelectionKey.OP_WRITE);
    }

    private boolean readOnce(ByteBuffer buffer) throws IOException {
        reading.lock();
        try {
            if (gates.get() > 0 || stopped) {
                return false;
            }
            var count = socket.read(buffer.clear());
            if (count < 0) {
                throw lost("the machine closed the connection", null);
            }
            return count > 0;
        } finally {
            reading.unlock();
        }
    }

    /** Drops what waits and begins anew; what the daemon has half of, it drops at the token. */
    void restart(ByteBuffer first) {
        pending.clear();
        pendingBytes = 0;
        enqueue(first);
    }

    void enqueue(ByteBuffer bytes) {
        pending.add(bytes);
        pendingBytes += bytes.remaining();
    }

    /** Writes what the socket takes now; the reading thread writes the rest. */
    void flush() {
        try {
            writePending();
        } catch (IOException e) {
            // The reading thread meets the same end and reports it.
            pending.clear();
            pendingBytes = 0;
            selector.wakeup();
            return;
        }
        if (!pending.isEmpty()) {
            selector.wakeup();
        }
    }

    private void writePending() throws IOException {
        while (gates.get() == 0 && !stopped && !pending.isEmpty()) {
            // Small frames go together: each write wakes the machine, and the guest in it.
            var some = pending.stream().limit(WRITES_TOGETHER).toArray(ByteBuffer[]::new);
            pendingBytes -= Math.toIntExact(socket.write(some));
            while (!pending.isEmpty() && !pending.getFirst().hasRemaining()) {
                pending.removeFirst();
                room.signalAll();
            }
            if (some[some.length - 1].hasRemaining()) {
                return;
            }
        }
    }

    /** Waits until little enough is queued, or the channel is over. */
    void awaitRoom(Deadline deadline) {
        while (!stopped && pendingBytes > ChannelLimits.PENDING_BYTES_MAX) {
            deadline.await(room);
        }
    }

    Gate gate() {
        lock.lock();
        try {
            gates.incrementAndGet();
        } finally {
            lock.unlock();
        }
        // Writes are done under the lock, so none runs; a read may, until it gives this back.
        reading.lock();
        try {
            selector.wakeup();
        } finally {
            reading.unlock();
        }
        return new OpenOnce();
    }

    void stop() {
        stopped = true;
        room.signalAll();
        selector.wakeup();
    }

    private void closeAll() {
        stopped = true;
        try (selector;
                socket) {
            key.cancel();
        } catch (ClosedChannelException e) {
            // Closed is what was wanted.
        } catch (IOException e) {
            listener.failed(lost("the channel's socket could not be closed", e));
        }
    }

    private static SpaceException lost(String what, @Nullable Exception cause) {
        return new SpaceException(
                ErrorCode.GUEST_UNREACHABLE, what + "; reconnect or recover the session", cause);
    }

    private final class OpenOnce implements Gate {
        private boolean open;

        @Override
        public void close() {
            lock.lock();
            try {
                if (!open) {
                    open = true;
                    gates.decrementAndGet();
                }
            } finally {
                lock.unlock();
            }
            selector.wakeup();
        }
    }
}
