package dev.space.node.engine.spi;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** The secret that opens the guest's channel. Never printed. */
public final class GuestToken {

    /** Length of a token. */
    public static final int BYTES = 32;

    private static final SecureRandom RANDOM = new SecureRandom();

    private final byte[] bytes;

    private GuestToken(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a guest token has " + BYTES + " bytes");
        }
        this.bytes = bytes.clone();
    }

    public static GuestToken fresh() {
        byte[] random = new byte[BYTES];
        RANDOM.nextBytes(random);
        return new GuestToken(random);
    }

    @JsonCreator
    public static GuestToken fromHex(String hex) {
        return new GuestToken(HexFormat.of().parseHex(hex));
    }

    public static GuestToken of(byte[] bytes) {
        return new GuestToken(bytes);
    }

    public byte[] bytes() {
        return bytes.clone();
    }

    @JsonValue
    String hex() {
        return HexFormat.of().formatHex(bytes);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof GuestToken token && MessageDigest.isEqual(bytes, token.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return "GuestToken";
    }
}
