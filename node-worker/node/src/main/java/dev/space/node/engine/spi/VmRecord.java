package dev.space.node.engine.spi;

import dev.space.model.SessionId;
import dev.space.model.Size;

/**
 * What must be known to find a VM again after a restart of this process. Written down before the VM
 * starts.
 *
 * @param startId number of this start, unique on the node for ever
 * @param bundle engine bundle the VM runs on; empty when the engine needs none
 */
public record VmRecord(SessionId session, Slot slot, long startId, String bundle, Size size) {

    /** The same VM as another session's. */
    public VmRecord of(SessionId other) {
        return new VmRecord(other, slot, startId, bundle, size);
    }
}
