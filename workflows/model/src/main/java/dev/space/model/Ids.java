package dev.space.model;

import java.util.Arrays;
import java.util.regex.Pattern;

/**
 * Makes and checks the text of ids. Randomness is passed in, so that workflows stay deterministic.
 */
public final class Ids {

    /** Random bytes in one id: 128 bits, so that two never meet. */
    public static final int RANDOM_BYTES = 16;

    private static final char[] ALPHABET = "abcdefghijklmnopqrstuvwxyz234567".toCharArray();
    private static final Pattern BODY = Pattern.compile("[a-z2-7]{26}");

    private Ids() {}

    /**
     * The text of a new id.
     *
     * @param prefix kind of the id, for instance {@code ses}
     * @param random exactly {@link #RANDOM_BYTES} random bytes
     */
    public static String text(String prefix, byte[] random) {
        if (random.length != RANDOM_BYTES) {
            throw new IllegalArgumentException("an id needs " + RANDOM_BYTES + " random bytes");
        }
        StringBuilder out = new StringBuilder(prefix).append('_');
        int bits = 0;
        int held = 0;
        for (byte b : Arrays.copyOf(random, RANDOM_BYTES + 1)) {
            held = (held << 8) | (b & 0xff);
            bits += 8;
            while (bits >= 5 && out.length() < prefix.length() + 1 + 26) {
                bits -= 5;
                out.append(ALPHABET[(held >> bits) & 31]);
            }
        }
        return out.toString();
    }

    /** True when the text has the form of an id with this prefix. */
    public static boolean isValid(String prefix, String value) {
        return value.length() == prefix.length() + 27
                && value.startsWith(prefix)
                && value.charAt(prefix.length()) == '_'
                && BODY.matcher(value.substring(prefix.length() + 1)).matches();
    }

    static void check(String prefix, String value) {
        if (!isValid(prefix, value)) {
            throw new IllegalArgumentException("not a valid " + prefix + " id: " + value);
        }
    }
}
