package dev.space.node.engine.qemu;

import dev.space.node.engine.spi.VmExit;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.engine.spi.VmRecord;
import java.util.List;
import java.util.OptionalInt;

/** Starts and ends VMM processes in slots. Failures are {@code ENGINE_FAILED}. */
public interface VmmLauncher {

    /** Makes the slot; answers the group that may open its VM's files. */
    int ensureSlot(int slot);

    /** Starts the bundle's VMM; its sockets accept connections when this returns its pid. */
    int start(VmRecord record, VmFiles files, List<String> arguments);

    /** The pid of the VMM of exactly this start, when it runs. */
    OptionalInt running(VmRecord record);

    /** Freezes whatever runs in the slot; returns when it stands still. */
    void freeze(int slot);

    /** As {@link #freeze} left it. */
    boolean isFrozen(int slot);

    /** Undoes {@link #freeze}; where nothing is frozen it does nothing. */
    void thaw(int slot);

    /** Returns when nothing runs in the slot any more. */
    void kill(int slot);

    /** How the VMM of this start ended, as the machine tells it. */
    VmExit exitOf(VmRecord record);

    /** Removes an empty slot. */
    void release(int slot);

    /** Slots of which something exists. */
    List<Integer> occupied();
}
