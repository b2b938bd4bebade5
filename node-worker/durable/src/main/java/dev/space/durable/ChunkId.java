package dev.space.durable;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * Names a chunk's content inside its lineage: an HMAC under a key of the lineage, so that who sees
 * ids of two lineages learns nothing about what they have in common.
 */
final class ChunkId {

    static final int BYTES = 32;

    private final byte[] bytes;

    /** Keeps the array. */
    ChunkId(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a chunk id has " + BYTES + " bytes");
        }
        this.bytes = bytes;
    }

    /** The array itself; not to be changed. */
    byte[] bytes() {
        return bytes;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ChunkId that && Arrays.equals(bytes, that.bytes);
    }

    /** The bytes are as good as random already. */
    @Override
    public int hashCode() {
        return (bytes[0] & 0xff) << 24
                | (bytes[1] & 0xff) << 16
                | (bytes[2] & 0xff) << 8
                | (bytes[3] & 0xff);
    }

    /** Enough of it to tell chunks apart in a message. */
    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes, 0, 8);
    }
}
