package dev.space.privileged;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Reads what {@link WireWriter} writes. Input is hostile: every length is compared with what is
 * left before anything is allocated, text must be well-formed, nothing may be left over.
 */
final class WireReader {

    private final ByteBuffer in;

    WireReader(byte[] frame) {
        in = ByteBuffer.wrap(frame);
    }

    int octet() {
        return need(1).get() & 0xFF;
    }

    boolean flag() {
        return switch (octet()) {
            case 0 -> false;
            case 1 -> true;
            default -> throw new IllegalArgumentException("a flag is neither 0 nor 1");
        };
    }

    int int32() {
        return need(Integer.BYTES).getInt();
    }

    long int64() {
        return need(Long.BYTES).getLong();
    }

    String text(int bytesMax) {
        int length = int32();
        if (length < 0 || length > bytesMax || length > in.remaining()) {
            throw new IllegalArgumentException("text of " + length + " bytes");
        }
        ByteBuffer slice = in.slice(in.position(), length);
        in.position(in.position() + length);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(slice).toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("text is not UTF-8", e);
        }
    }

    <T extends Enum<T>> T constant(T[] values) {
        String name = text(40);
        for (T value : values) {
            if (value.name().equals(name)) {
                return value;
            }
        }
        throw new IllegalArgumentException("unknown constant");
    }

    void end() {
        if (in.hasRemaining()) {
            throw new IllegalArgumentException(in.remaining() + " bytes too many");
        }
    }

    private ByteBuffer need(int bytes) {
        if (in.remaining() < bytes) {
            throw new IllegalArgumentException("truncated", new BufferUnderflowException());
        }
        return in;
    }
}
