package dev.space.privileged;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Fields of one message, big endian; text is a 32-bit length and UTF-8. */
final class WireWriter {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream(256);

    WireWriter octet(int value) {
        out.write(value);
        return this;
    }

    WireWriter flag(boolean value) {
        return octet(value ? 1 : 0);
    }

    WireWriter int32(int value) {
        out.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(value).array());
        return this;
    }

    WireWriter int64(long value) {
        out.writeBytes(ByteBuffer.allocate(Long.BYTES).putLong(value).array());
        return this;
    }

    WireWriter text(String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        int32(bytes.length);
        out.writeBytes(bytes);
        return this;
    }

    byte[] bytes() {
        return out.toByteArray();
    }
}
