package dev.space.guest.channel;

import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;

/** The secret that opens a session with a guest's daemon. Never printed. */
public final class Token {

    public static final int BYTES = 32;

    /** What a daemon has before its first bind; it accepts it only together with a new token. */
    public static final Token UNSET = new Token(new byte[BYTES]);

    private final byte[] bytes;

    private Token(byte[] bytes) {
        this.bytes = bytes;
    }

    public static Token of(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a token has " + BYTES + " bytes");
        }
        return new Token(bytes.clone());
    }

    public static Token random(SecureRandom random) {
        var bytes = new byte[BYTES];
        random.nextBytes(bytes);
        return new Token(bytes);
    }

    /** For the snapshot's manifest; the caller keeps it secret. */
    public byte[] reveal() {
        return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Token that && MessageDigest.isEqual(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return "Token(hidden)";
    }
}
