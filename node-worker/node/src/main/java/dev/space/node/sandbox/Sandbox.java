package dev.space.node.sandbox;

import dev.space.model.Fence;
import dev.space.model.SessionId;
import dev.space.node.dataplane.ProcessTable;
import dev.space.node.engine.spi.Guest;
import dev.space.node.engine.spi.Vm;

/** A running VM with the processes that the node follows in it. */
public record Sandbox(SessionId session, Fence start, Vm vm, ProcessTable processes) {

    public Guest guest() {
        return vm.guest();
    }
}
