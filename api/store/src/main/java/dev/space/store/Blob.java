package dev.space.store;

import java.security.MessageDigest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Bytes that never change, compare in constant time, and do not print what they hold. */
public final class Blob {
    private final byte[] bytes;

    private Blob(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Takes its own copy. */
    public static Blob of(byte[] bytes) {
        return new Blob(bytes.clone());
    }

    static @Nullable Blob ofColumn(byte @Nullable [] column) {
        return column == null ? null : new Blob(column);
    }

    /** A copy. */
    public byte[] bytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Blob blob && MessageDigest.isEqual(bytes, blob.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return "Blob(" + bytes.length + " bytes)";
    }
}
