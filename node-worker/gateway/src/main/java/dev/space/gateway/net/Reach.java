package dev.space.gateway.net;

import dev.space.model.egress.Cidr;
import dev.space.model.egress.SpecialRanges;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * Which addresses a sandbox may reach at all, whatever its policy says of the name that led there.
 * Asked with the address that is about to be connected to, never with one that was looked at
 * before.
 */
public final class Reach {

    private final List<Cidr> denied;
    private final Set<Integer> platformPorts;
    private final IntPredicate isThisMachine;

    /**
     * Made once for the process.
     *
     * @param denied what the operator denies to everyone
     * @param platformPorts ports of this machine that are the platform's own
     * @param isThisMachine whether an address is one of this machine's interfaces
     */
    public Reach(List<Cidr> denied, Set<Integer> platformPorts, IntPredicate isThisMachine) {
        this.denied = List.copyOf(denied);
        this.platformPorts = Set.copyOf(platformPorts);
        this.isThisMachine = isThisMachine;
    }

    /**
     * Whether a connection may be made.
     *
     * @param mayBePrivate a rule means private addresses on purpose
     */
    public boolean allows(int address, int port, boolean mayBePrivate) {
        if (SpecialRanges.contain(SpecialRanges.NEVER, address)
                || SpecialRanges.contain(denied, address)) {
            return false;
        }
        boolean own = SpecialRanges.LOOPBACK.contains(address) || isThisMachine.test(address);
        if (own && platformPorts.contains(port)) {
            return false;
        }
        return mayBePrivate || !(own || SpecialRanges.contain(SpecialRanges.PRIVATE, address));
    }
}
