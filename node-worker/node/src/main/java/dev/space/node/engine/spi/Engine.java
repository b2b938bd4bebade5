package dev.space.node.engine.spi;

import java.util.List;
import java.util.Optional;

/**
 * A driver of virtual machines. Calls block; a failure is a {@code SpaceException}, and after a
 * failed start nothing of the VM is left but the slot, which the caller releases.
 */
public interface Engine extends AutoCloseable {

    EngineInfo info();

    /** Takes a free slot and prepares it, or fails with {@code NO_CAPACITY}. */
    Slot acquireSlot();

    /**
     * Ends whatever is left in the slot and gives it back. A slot that cannot be released cleanly
     * is not used again until a later call succeeds.
     */
    void releaseSlot(Slot slot);

    int freeSlots();

    /**
     * What a VM that starts anew on the bundle of this digest is to carry as its bundle: the name
     * also tells what else its memory needs to be loaded again.
     */
    String bundle(String digest);

    /** True when snapshots made on this bundle can be loaded here. */
    boolean hasBundle(String bundle);

    /**
     * Starts a VM's process and no VM: it waits until it is told to load memory. The files have
     * their size and no content yet.
     */
    WaitingVm prepare(VmRecord record, VmFiles files);

    /** Starts a VM and returns when its guest has answered, has its identity, and has thawed. */
    Vm start(VmStart start);

    /**
     * Takes over a VM that runs since before this process did. The VM may be stopped; the caller
     * decides whether it goes on. Empty when it does not run; then {@link #exitOf} says how it
     * ended.
     */
    Optional<Vm> adopt(VmRecord record, VmFiles files, GuestToken token);

    /** How a VM that is gone ended, as far as can be known. */
    VmExit exitOf(VmRecord record);

    /** Ends and releases every slot that holds none of these VMs. Called once after adoption. */
    void releaseAllBut(List<VmRecord> known);

    @Override
    void close();
}
