package dev.space.guest.channel;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Takes the guest's bytes apart. Before the answer to the newest handshake (magic and its nonce)
 * everything is dropped: it belongs to an old connection or an old life of the guest. Keeps one
 * frame at most. Not thread safe.
 */
final class FrameDecoder {

    /** Receives whole frames; the payload is the receiver's to keep. */
    interface Sink {
        void established();

        void frame(int stream, FrameType type, boolean end, byte[] payload);
    }

    private static final byte[] EMPTY = {};

    private byte[] preamble = EMPTY;
    private int matched;
    private boolean synchronised;
    private final ByteBuffer header =
            ByteBuffer.allocate(Frames.HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private FrameType type = FrameType.CANCEL;
    private byte[] payload = EMPTY;
    private int filled = -1;

    /** Drops everything until these bytes (magic and nonce) have been seen. */
    void expect(byte[] preamble) {
        this.preamble = preamble.clone();
        matched = 0;
        synchronised = false;
        header.clear();
        filled = -1;
        payload = EMPTY;
    }

    void feed(ByteBuffer in, Sink sink) {
        while (in.hasRemaining()) {
            if (!synchronised) {
                search(in, sink);
            } else if (filled < 0) {
                readHeader(in, sink);
            } else {
                readPayload(in, sink);
            }
        }
    }

    private void search(ByteBuffer in, Sink sink) {
        if (preamble.length == 0) {
            in.position(in.limit());
            return;
        }
        while (in.hasRemaining()) {
            var next = in.get();
            while (matched > 0 && preamble[matched] != next) {
                matched = longestBorder(matched);
            }
            if (preamble[matched] == next) {
                matched++;
            }
            if (matched == preamble.length) {
                synchronised = true;
                sink.established();
                return;
            }
        }
    }

    /** Length of the longest proper prefix of the preamble that ends its first n bytes. */
    private int longestBorder(int n) {
        for (var length = n - 1; length > 0; length--) {
            if (Arrays.equals(preamble, 0, length, preamble, n - length, n)) {
                return length;
            }
        }
        return 0;
    }

    private void readHeader(ByteBuffer in, Sink sink) {
        while (header.hasRemaining() && in.hasRemaining()) {
            header.put(in.get());
        }
        if (header.hasRemaining()) {
            return;
        }
        var length = header.getInt(0);
        var found = FrameType.of(header.getShort(8) & 0xffff);
        if (found == null || found == FrameType.REQUEST || found == FrameType.CANCEL) {
            throw broken("a frame of type " + (header.getShort(8) & 0xffff));
        }
        if (length < 0 || length > found.payloadBytesMax()) {
            throw broken(found + " of " + Integer.toUnsignedString(length) + " bytes");
        }
        if ((header.getShort(10) & ~Frames.FLAG_END) != 0) {
            throw broken("unknown flags");
        }
        type = found;
        payload = length == 0 ? EMPTY : new byte[length];
        filled = 0;
        if (length == 0) {
            complete(sink);
        }
    }

    private void readPayload(ByteBuffer in, Sink sink) {
        var count = Math.min(in.remaining(), payload.length - filled);
        in.get(payload, filled, count);
        filled += count;
        if (filled == payload.length) {
            complete(sink);
        }
    }

    private void complete(Sink sink) {
        var stream = header.getInt(4);
        var end = header.getShort(10) == Frames.FLAG_END;
        var whole = payload;
        header.clear();
        filled = -1;
        payload = EMPTY;
        sink.frame(stream, type, end, whole);
    }

    static SpaceException broken(String what) {
        return new SpaceException(
                ErrorCode.GUEST_UNREACHABLE,
                "the guest broke the channel's protocol (" + what + "); reconnect");
    }
}
