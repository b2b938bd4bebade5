package dev.space.node.engine.spi;

import java.util.concurrent.CompletableFuture;

/** A VM whose process is up and waits for memory to load. Its files still have no content. */
public interface WaitingVm {

    /**
     * Loads what the files have now and returns as {@link Engine#start} does. The start names the
     * slot, the start id, the size and the bundle that this one was prepared with. Once at most.
     */
    Vm load(VmStart start);

    /** As {@link Vm#held}, while it waits and while it loads. */
    VmHold held();

    /** Ends it and returns when it is gone. Repeating it is success. */
    void end();

    /** Completed when it is gone, whoever ended it. */
    CompletableFuture<VmExit> exit();
}
