package dev.space.node.engine.spi;

import java.util.concurrent.atomic.AtomicLong;

/** Numbers of VM starts, unique on the node over restarts: the clock outruns the count. */
public final class StartIds {

    private static final AtomicLong LAST = new AtomicLong(System.currentTimeMillis() * 1000);

    private StartIds() {}

    public static long next() {
        return LAST.incrementAndGet();
    }
}
