package dev.space.guest.channel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Writes frames: 12 bytes of header, little endian, then the payload. */
final class Frames {

    static final int HEADER_BYTES = 12;
    static final int FLAG_END = 1;

    private Frames() {}

    static ByteBuffer encode(int stream, FrameType type, boolean end, ByteBuffer payload) {
        var length = payload.remaining();
        if (length > type.payloadBytesMax()) {
            throw new IllegalArgumentException(type + " of " + length + " bytes is too long");
        }
        var frame = ByteBuffer.allocate(HEADER_BYTES + length).order(ByteOrder.LITTLE_ENDIAN);
        frame.putInt(length).putInt(stream);
        frame.putShort((short) type.code()).putShort((short) (end ? FLAG_END : 0));
        return frame.put(payload).flip();
    }

    static ByteBuffer credit(int stream, int bytes) {
        var payload = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(bytes).flip();
        return encode(stream, FrameType.CREDIT, false, payload);
    }

    static ByteBuffer cancel(int stream) {
        return encode(stream, FrameType.CANCEL, true, ByteBuffer.allocate(0));
    }
}
