package dev.space.gateway.slot;

import dev.space.gateway.tcp.OriginalDestination;
import dev.space.gateway.tcp.Timeouts;

/**
 * What all slots have in common.
 *
 * @param connectionsMax of all sandboxes together
 * @param destination how to learn where a connection was going
 */
public record Settings(int connectionsMax, Timeouts timeouts, OriginalDestination destination) {}
