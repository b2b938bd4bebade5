package dev.space.node;

import java.time.Duration;

/**
 * The one place of a node that lets time pass: between two tries, or two looks at something that
 * reports nothing by itself. Always inside a loop with a bound or an end.
 */
public final class Pause {

    private Pause() {}

    public static void of(Duration time) throws InterruptedException {
        Thread.sleep(time);
    }
}
