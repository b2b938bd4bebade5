package dev.space.privileged;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;

/**
 * Frames over a unix socket: a 32-bit length and that many bytes, each transfer with a deadline. A
 * peer that sends slowly or nothing costs its own connection only.
 */
public final class FrameChannel implements AutoCloseable {

    private final SocketChannel channel;
    private final Selector selector;

    /** Takes the channel over: it is closed with this object. */
    public FrameChannel(SocketChannel channel) throws IOException {
        this.channel = channel;
        channel.configureBlocking(false);
        this.selector = Selector.open();
        channel.register(selector, 0);
    }

    public void write(byte[] frame, Duration timeout) throws IOException {
        if (frame.length == 0 || frame.length > PrivilegedLimits.FRAME_BYTES_MAX) {
            throw new IOException("a frame of " + frame.length + " bytes cannot be sent");
        }
        ByteBuffer out = ByteBuffer.allocate(Integer.BYTES + frame.length);
        out.putInt(frame.length).put(frame).flip();
        long deadline = System.nanoTime() + timeout.toNanos();
        while (out.hasRemaining()) {
            if (channel.write(out) == 0) {
                await(SelectionKey.OP_WRITE, deadline);
            }
        }
    }

    public byte[] read(Duration timeout) throws IOException {
        long deadline = System.nanoTime() + timeout.toNanos();
        int length = fill(ByteBuffer.allocate(Integer.BYTES), deadline).getInt();
        if (length <= 0 || length > PrivilegedLimits.FRAME_BYTES_MAX) {
            throw new IOException("a frame claims " + length + " bytes");
        }
        return fill(ByteBuffer.allocate(length), deadline).array();
    }

    private ByteBuffer fill(ByteBuffer in, long deadline) throws IOException {
        while (in.hasRemaining()) {
            int n = channel.read(in);
            if (n < 0) {
                throw new EOFException("the peer closed the connection");
            }
            if (n == 0) {
                await(SelectionKey.OP_READ, deadline);
            }
        }
        return in.flip();
    }

    private void await(int operation, long deadline) throws IOException {
        long left = (deadline - System.nanoTime()) / 1_000_000;
        if (left <= 0) {
            throw new IOException("the peer took too long");
        }
        channel.keyFor(selector).interestOps(operation);
        selector.select(left);
        selector.selectedKeys().clear();
        if (Thread.currentThread().isInterrupted()) {
            throw new IOException("interrupted");
        }
    }

    @Override
    public void close() throws IOException {
        try {
            channel.close();
        } finally {
            selector.close();
        }
    }
}
