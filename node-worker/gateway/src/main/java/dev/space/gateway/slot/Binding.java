package dev.space.gateway.slot;

import dev.space.model.credential.CredentialGrants;
import dev.space.model.egress.EgressPolicy;
import java.util.Map;

/**
 * What a slot's sockets stand for.
 *
 * @param grants with their secrets sealed
 * @param names that the guest may have in its caches, with their addresses
 */
public record Binding(
        int slot,
        String session,
        long epoch,
        long policyVersion,
        EgressPolicy policy,
        CredentialGrants grants,
        Map<String, Integer> names) {

    public Binding {
        names = Map.copyOf(names);
    }
}
