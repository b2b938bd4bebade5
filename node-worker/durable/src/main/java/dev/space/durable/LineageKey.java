package dev.space.durable;

import dev.space.model.Secret;
import java.util.Arrays;

/**
 * The key of one lineage, from which all keys of its objects are derived. Never prints itself;
 * closing wipes it.
 */
public final class LineageKey implements AutoCloseable {

    public static final int BYTES = 32;

    private final Secret secret;

    /** Takes its own copy; the caller wipes theirs. */
    public LineageKey(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a lineage key has " + BYTES + " bytes");
        }
        this.secret = new Secret("lineage key", bytes);
    }

    /** A copy, which the caller wipes. */
    byte[] bytes() {
        return secret.bytes();
    }

    /** Compares in constant time. */
    public boolean matches(LineageKey other) {
        byte[] theirs = other.bytes();
        try {
            return secret.matches(theirs);
        } finally {
            Arrays.fill(theirs, (byte) 0);
        }
    }

    @Override
    public void close() {
        secret.close();
    }

    @Override
    public String toString() {
        return secret.toString();
    }
}
