package dev.space.nativeabi;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * A file descriptor with one owner. It is closed with this object, unless it was taken: then it is
 * the taker's to close.
 */
public final class Descriptor implements AutoCloseable {

    private static final int GONE = -1;

    private final AtomicInteger number;

    Descriptor(int number) {
        this.number = new AtomicInteger(number);
    }

    /** The number, and with it the ownership. */
    public int take() {
        int taken = number.getAndSet(GONE);
        if (taken == GONE) {
            throw new IllegalStateException("the descriptor was taken or closed");
        }
        return taken;
    }

    /** For one call, while this object holds it. */
    int number() {
        int held = number.get();
        if (held == GONE) {
            throw new IllegalStateException("the descriptor was taken or closed");
        }
        return held;
    }

    @Override
    public void close() {
        int held = number.getAndSet(GONE);
        if (held != GONE) {
            Calls.close(held);
        }
    }
}
