package dev.space.cli.platform;

import java.time.Duration;

/**
 * The one place that sleeps: between two looks at something outside that nobody reports, such as
 * another process's end. Always inside a loop with a deadline.
 */
public final class Pause {

    private Pause() {}

    public static void of(Duration duration) {
        try {
            Thread.sleep(duration);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new PlatformException("interrupted", e);
        }
    }
}
