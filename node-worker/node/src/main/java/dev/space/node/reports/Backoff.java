package dev.space.node.reports;

import dev.space.node.Pause;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Growing waits between attempts, with jitter so that many nodes do not come back at once. */
public final class Backoff {

    private final Duration first;
    private final Duration max;
    private Duration current;

    public Backoff(Duration first, Duration max) {
        this.first = first;
        this.max = max;
        this.current = first;
    }

    public void reset() {
        current = first;
    }

    /** Waits, longer each time. */
    public void sleep() throws InterruptedException {
        double jitter = 0.5 + ThreadLocalRandom.current().nextDouble();
        Pause.of(Duration.ofMillis((long) (current.toMillis() * jitter)));
        Duration doubled = current.multipliedBy(2);
        current = doubled.compareTo(max) > 0 ? max : doubled;
    }
}
