package dev.space.gateway.tcp;

import java.time.Duration;

/**
 * How long a connection may take.
 *
 * @param opening until the sandbox has said what it wants
 * @param idle without a byte in either direction
 * @param farewell for an answer of our own to be read
 */
public record Timeouts(Duration opening, Duration idle, Duration farewell) {

    /** What is used unless a test is in a hurry. */
    public static final Timeouts DEFAULT =
            new Timeouts(Duration.ofSeconds(10), Duration.ofMinutes(30), Duration.ofSeconds(2));
}
