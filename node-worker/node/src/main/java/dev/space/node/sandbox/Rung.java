package dev.space.node.sandbox;

import dev.space.node.engine.spi.GuestToken;
import dev.space.node.engine.spi.Vm;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.engine.spi.VmRecord;
import java.nio.file.Path;

/** One way to a VM, with the slot and the memory that it needs. */
interface Rung {

    String HOT = "hot";
    String PREPARED = "prepared";
    String COLD = "cold";

    String name();

    /**
     * True when its VM is in a slot that no journal names: a restart ends it, so the journal need
     * not be on the disk before it goes on.
     */
    default boolean isMadeAhead() {
        return !name().equals(COLD);
    }

    /** As the session's, before anything of it is done. */
    VmRecord record();

    /** The VM's files in their place. */
    VmFiles files(Path live, GuestToken token);

    /** Returns when the VM runs for its session; after a failure it is ended. */
    Vm run(VmFiles files, GuestToken token);

    /** Ends what the session's journal does not know of. */
    void drop();

    /** The VM runs. */
    void done();
}
