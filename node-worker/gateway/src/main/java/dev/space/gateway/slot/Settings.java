package dev.space.gateway.slot;

import dev.space.certificates.Authority;
import dev.space.gateway.credential.Sources;
import dev.space.gateway.tcp.OriginalDestination;
import dev.space.gateway.tcp.Timeouts;
import dev.space.gateway.tls.OutsideTls;
import java.util.Optional;

/**
 * What all slots have in common.
 *
 * @param connectionsMax of all sandboxes together
 * @param destination how to learn where a connection was going
 * @param authority that signs for what is looked into; empty when nothing can be
 * @param outside whom to trust outside
 * @param sources of credentials
 */
public record Settings(
        int connectionsMax,
        Timeouts timeouts,
        OriginalDestination destination,
        Optional<Authority> authority,
        OutsideTls outside,
        Sources sources) {}
