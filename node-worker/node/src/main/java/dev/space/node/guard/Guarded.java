package dev.space.node.guard;

import dev.space.model.Fence;
import dev.space.model.SessionId;
import dev.space.node.engine.spi.VmHold;

/** A running sandbox as the guard sees it. Equal ones are the same VM. */
public interface Guarded {

    SessionId session();

    /** The start that made its VM. */
    Fence start();

    /** Of the disk, what it shares with nobody. */
    long ownBytes();

    /** As {@link dev.space.node.engine.spi.Vm#held}. */
    VmHold held();
}
