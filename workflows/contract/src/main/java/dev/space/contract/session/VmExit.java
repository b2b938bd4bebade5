package dev.space.contract.session;

import dev.space.model.Fence;
import dev.space.model.ReasonCode;

/**
 * A VM ended without having been told to.
 *
 * @param start the fence of the start that made the VM
 * @param detail for people; comes from the node, never from the guest
 */
public record VmExit(Fence start, ReasonCode reason, String detail) {}
