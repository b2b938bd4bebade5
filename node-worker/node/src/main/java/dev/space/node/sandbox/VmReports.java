package dev.space.node.sandbox;

import dev.space.model.Fence;
import dev.space.model.SessionId;
import dev.space.node.engine.spi.VmExit;

/** Where the end of a VM that nobody asked for is told. Returns when it cannot be lost any more. */
@FunctionalInterface
public interface VmReports {

    void exited(SessionId session, Fence start, VmExit exit);
}
