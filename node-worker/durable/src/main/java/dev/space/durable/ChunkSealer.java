package dev.space.durable;

import com.github.luben.zstd.Zstd;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;

/**
 * Turns a chunk into what is stored and back: compressed, then encrypted with AES-256-GCM. The
 * nonce is an HMAC over what is encrypted, so that the same bytes under the same key always give
 * the same object (an upload that is repeated finds its packs) and other bytes never meet the same
 * nonce, not even when a newer compressor packs a chunk differently. Not for several threads.
 */
final class ChunkSealer {

    static final int NONCE_BYTES = 12;
    static final int TAG_BYTES = 16;

    /** A sealed chunk is at most this much longer than its content. */
    static final int OVERHEAD_BYTES = NONCE_BYTES + 1 + TAG_BYTES;

    /** Fast, because the guest's owner waits; higher levels gain little on memory. */
    private static final int LEVEL = 1;

    private static final byte PLAIN = 0;
    private static final byte ZSTD = 1;
    private static final byte[] PURPOSE = "space v1 chunk".getBytes(StandardCharsets.US_ASCII);

    private final LineageKeys keys;
    private final Mac ids;
    private final Mac nonces;
    private final Cipher cipher;
    private final byte[] frame = new byte[1 + Format.CHUNK_BYTES];
    private final byte[] packed;

    ChunkSealer(LineageKeys keys) {
        this.keys = keys;
        this.packed = new byte[(int) Zstd.compressBound(Format.CHUNK_BYTES)];
        try {
            ids = Mac.getInstance("HmacSHA256");
            ids.init(keys.ids());
            nonces = Mac.getInstance("HmacSHA256");
            nonces.init(keys.nonces());
            cipher = Cipher.getInstance("AES/GCM/NoPadding");
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JDK lacks AES-GCM or HMAC", e);
        }
    }

    ChunkId id(byte[] content, int length) {
        ids.update(content, 0, length);
        return new ChunkId(ids.doFinal());
    }

    /** Appends the sealed chunk to the buffer, which has room; gives its length. */
    int seal(ChunkId id, byte[] content, int length, ByteBuffer target) {
        int frameLength = compress(content, length);
        nonces.update(id.bytes());
        nonces.update(frame, 0, frameLength);
        byte[] nonce = Arrays.copyOf(nonces.doFinal(), NONCE_BYTES);
        try {
            cipher.init(
                    Cipher.ENCRYPT_MODE, keys.chunks(), new GCMParameterSpec(TAG_BYTES * 8, nonce));
            cipher.updateAAD(about(id, length));
            target.put(nonce);
            var _ = cipher.doFinal(ByteBuffer.wrap(frame, 0, frameLength), target);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a chunk could not be encrypted", e);
        }
        return frameLength + NONCE_BYTES + TAG_BYTES;
    }

    private int compress(byte[] content, int length) {
        long size = Zstd.compressByteArray(packed, 0, packed.length, content, 0, length, LEVEL);
        if (Zstd.isError(size)) {
            throw new IllegalStateException("zstd: " + Zstd.getErrorName(size));
        }
        boolean smaller = size < length;
        frame[0] = smaller ? ZSTD : PLAIN;
        int kept = smaller ? (int) size : length;
        System.arraycopy(smaller ? packed : content, 0, frame, 1, kept);
        return 1 + kept;
    }

    /**
     * Opens a sealed chunk into {@code content}, which has room for a whole chunk.
     *
     * @return null when all is well, else what is wrong with it
     */
    @org.jspecify.annotations.Nullable
    String open(byte[] from, int offset, int sealed, ChunkId id, int length, byte[] content) {
        if (sealed < OVERHEAD_BYTES || sealed > Format.CHUNK_BYTES + OVERHEAD_BYTES) {
            return "has an impossible length of " + sealed;
        }
        int frameLength;
        try {
            cipher.init(
                    Cipher.DECRYPT_MODE,
                    keys.chunks(),
                    new GCMParameterSpec(TAG_BYTES * 8, from, offset, NONCE_BYTES));
            cipher.updateAAD(about(id, length));
            frameLength =
                    cipher.doFinal(from, offset + NONCE_BYTES, sealed - NONCE_BYTES, frame, 0);
        } catch (GeneralSecurityException e) {
            return "was changed or belongs to another lineage (its seal does not match)";
        }
        return unpack(frameLength, id, length, content);
    }

    private @org.jspecify.annotations.Nullable String unpack(
            int frameLength, ChunkId id, int length, byte[] content) {
        if (frame[0] == PLAIN) {
            if (frameLength - 1 != length) {
                return "has " + (frameLength - 1) + " bytes instead of " + length;
            }
            System.arraycopy(frame, 1, content, 0, length);
        } else {
            long size = Zstd.decompressByteArray(content, 0, length, frame, 1, frameLength - 1);
            if (Zstd.isError(size) || size != length) {
                return "cannot be decompressed";
            }
        }
        return id(content, length).equals(id) ? null : "is not the content that its id names";
    }

    private static byte[] about(ChunkId id, int length) {
        return ByteBuffer.allocate(PURPOSE.length + ChunkId.BYTES + Integer.BYTES)
                .put(PURPOSE)
                .put(id.bytes())
                .putInt(length)
                .array();
    }
}
