package dev.space.node.engine.spi;

/**
 * How a VM is started.
 *
 * @param restore true to load memory and device state, false to boot from the disk
 * @param token what the guest accepts now: the snapshot's, or for a boot the one it is given
 * @param newToken what it accepts from the first handshake on
 * @param identity told to the guest before its workload thaws
 * @param permit asked before the guest runs
 */
public record VmStart(
        VmRecord record,
        VmFiles files,
        boolean restore,
        GuestToken token,
        GuestToken newToken,
        GuestIdentity identity,
        StartPermit permit) {}
