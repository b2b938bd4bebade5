package dev.space.gateway.tcp;

import dev.space.model.egress.Ipv4;
import java.util.Optional;

/**
 * Where a sandbox wants to go.
 *
 * @param name that the address was given for; empty for a raw address
 * @param address as the sandbox has it
 */
public record Target(Optional<String> name, int address, int port) {

    /** As people read it. */
    public String host() {
        return name.orElseGet(() -> Ipv4.text(address));
    }
}
