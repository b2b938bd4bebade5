package dev.space.model;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;

/**
 * A secret's bytes with a name for people. It never prints its content, is in no payload, and wipes
 * its bytes when closed. Callers must not keep what {@link #bytes} or {@link #text} gave them.
 */
public final class Secret implements AutoCloseable {

    private final String name;
    private final byte[] bytes;
    private volatile boolean closed;

    /** Takes its own copy of the bytes; the caller wipes theirs. */
    public Secret(String name, byte[] bytes) {
        this.name = name;
        this.bytes = bytes.clone();
    }

    public static Secret ofText(String name, String text) {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        Secret secret = new Secret(name, encoded);
        Arrays.fill(encoded, (byte) 0);
        return secret;
    }

    /** A copy, which the caller wipes. */
    public byte[] bytes() {
        if (closed) {
            throw new IllegalStateException("the secret " + name + " was closed");
        }
        return bytes.clone();
    }

    /** For interfaces that want text, such as a header's value. */
    public String text() {
        byte[] copy = bytes();
        try {
            return new String(copy, StandardCharsets.UTF_8);
        } finally {
            Arrays.fill(copy, (byte) 0);
        }
    }

    /** Compares in constant time, so that a guesser learns nothing from how long it took. */
    public boolean matches(byte[] candidate) {
        return !closed && MessageDigest.isEqual(bytes, candidate);
    }

    @Override
    public void close() {
        closed = true;
        Arrays.fill(bytes, (byte) 0);
    }

    @Override
    public String toString() {
        return "Secret(" + name + ")";
    }
}
