package dev.space.guest.channel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * What opens a session: the daemon sets its clock and mixes in entropy before it does anything else
 * and then thaws the workload.
 *
 * @param token what the daemon knows now
 * @param next replaces the token, at every bind, restore and fork; null keeps it
 * @param stepClock true after every start or restore; false on a mere reconnect (slewed)
 * @param mayHaveRotated true when an earlier handshake with the same {@code next} got no answer:
 *     then it is unknown which token the daemon has, and both are tried in one write
 */
public record Handshake(
        Token token, @Nullable Token next, boolean stepClock, boolean mayHaveRotated) {

    static final int BYTES = 128;
    static final int NONCE_BYTES = 16;
    static final int ENTROPY_BYTES = 32;
    private static final byte[] MAGIC = "SPACE-DAEMON/1\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int FLAG_STEP_CLOCK = 1;
    private static final int FLAG_ROTATE = 2;

    public Handshake {
        if (Token.UNSET.equals(token) && next == null) {
            throw new IllegalArgumentException("the first token must be replaced at once");
        }
        if (next != null && Token.UNSET.equals(next)) {
            throw new IllegalArgumentException("a new token must not be the unset one");
        }
    }

    /** The first handshake after a start or a restore. */
    public static Handshake afterStart(Token token, Token next) {
        return new Handshake(token, next, true, false);
    }

    /** The same machine again, after a lost connection. */
    public static Handshake reconnect(Token token) {
        return new Handshake(token, null, false, false);
    }

    /** The same handshake once more, when its answer did not come. */
    public Handshake again() {
        return new Handshake(token, next, stepClock, next != null);
    }

    /** The token that the daemon has once it answered. */
    public Token established() {
        return next == null ? token : next;
    }

    ByteBuffer encode(byte[] nonce, long unixNanos, byte[] entropy) {
        var out = ByteBuffer.allocate(2 * BYTES).order(ByteOrder.LITTLE_ENDIAN);
        if (!mayHaveRotated || next == null) {
            put(out, token, next, nonce, unixNanos, entropy);
            return out.flip();
        }
        // Only the answer to the second one counts; whichever token the daemon has, it gives that.
        var ignored = nonce.clone();
        ignored[0] ^= (byte) 0xff;
        put(out, token, next, ignored, unixNanos, entropy);
        put(out, next, null, nonce, unixNanos, entropy);
        return out.flip();
    }

    private void put(
            ByteBuffer out,
            Token known,
            @Nullable Token replacement,
            byte[] nonce,
            long unixNanos,
            byte[] entropy) {
        out.put(known.reveal()).put(nonce).putLong(unixNanos).put(entropy);
        out.put(replacement == null ? new byte[Token.BYTES] : replacement.reveal());
        out.putInt((stepClock ? FLAG_STEP_CLOCK : 0) | (replacement == null ? 0 : FLAG_ROTATE));
        out.putInt(0);
    }

    static byte[] answer(byte[] nonce) {
        return ByteBuffer.allocate(MAGIC.length + nonce.length).put(MAGIC).put(nonce).array();
    }

    @Override
    public String toString() {
        return "Handshake[rotates=" + (next != null) + ", stepClock=" + stepClock + "]";
    }
}
