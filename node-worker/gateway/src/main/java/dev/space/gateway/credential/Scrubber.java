package dev.space.gateway.credential;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.Arrays;

/**
 * Finds some texts in a stream of bytes and overwrites them with as many stars, so that lengths
 * hold. What may be the beginning of one is held back until more has come; nothing else is.
 */
public final class Scrubber {

    private static final byte STAR = '*';

    private final Texts texts;

    /** How much of each text the end of the stream so far is. */
    private final int[] matched;

    private byte[] held = new byte[0];
    private long found;

    /** At the beginning of a stream. */
    public Scrubber(Texts texts) {
        this.texts = texts;
        this.matched = new int[texts.count()];
    }

    /** How many were found. */
    public long found() {
        return found;
    }

    /**
     * The next bytes.
     *
     * @param more is released
     * @return what can go on now
     */
    public ByteBuf next(ByteBufAllocator alloc, ByteBuf more) {
        byte[] all = new byte[held.length + more.readableBytes()];
        System.arraycopy(held, 0, all, 0, held.length);
        int known = held.length;
        more.readBytes(all, known, all.length - known);
        more.release();
        int hold = search(all, known);
        int go = all.length - hold;
        held = Arrays.copyOfRange(all, go, all.length);
        return alloc.buffer(go).writeBytes(all, 0, go);
    }

    /** The stream is over: what was held is harmless. */
    public ByteBuf last(ByteBufAllocator alloc) {
        ByteBuf rest = alloc.buffer(held.length).writeBytes(held);
        held = new byte[0];
        Arrays.fill(matched, 0);
        return rest;
    }

    /** Overwrites in place, as the continuation of what was searched; how much is to be held. */
    int search(byte[] all, int from) {
        int hold = 0;
        for (int i = 0; i < matched.length; i++) {
            matched[i] = search(texts.text(i), matched[i], all, from);
            hold = Math.max(hold, matched[i]);
        }
        return hold;
    }

    private int search(Texts.Text text, int before, byte[] all, int from) {
        int state = before;
        int at = from;
        while (at < all.length) {
            if (state == 0) {
                at = indexOf(all, at, text.first());
                if (at < 0) {
                    return 0;
                }
            }
            state = text.after(state, all[at]);
            at++;
            if (state == text.length()) {
                Arrays.fill(all, at - state, at, STAR);
                found++;
                state = 0;
            }
        }
        return state;
    }

    private static int indexOf(byte[] all, int from, byte wanted) {
        for (int i = from; i < all.length; i++) {
            if (all[i] == wanted) {
                return i;
            }
        }
        return -1;
    }
}
