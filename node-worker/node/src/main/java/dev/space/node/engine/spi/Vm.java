package dev.space.node.engine.spi;

import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** One running VM. The caller calls one method at a time; {@link #guest} may be used by many. */
public interface Vm {

    VmRecord record();

    /** The guest behind this VM; valid until the VM ends. */
    Guest guest();

    /** Time of each phase of the start in microseconds, by name; empty for an adopted VM. */
    Map<String, Long> phaseMicros();

    /** Freezes the workload in the guest; false when it could not in time. */
    boolean quiesce();

    /** Undoes {@link #quiesce} when the VM was not stopped after it. */
    void thaw();

    /**
     * Writes dirty memory and disk pages back while the guest runs, so that the stop is short. May
     * run beside any other call.
     */
    void writeBack();

    /** As {@link #writeBack} for the disk alone. */
    void writeBackDisk();

    /**
     * Lets the guest finish what it writes to its root file system and write no more; false when it
     * could not. The guest lifts that by itself after a while.
     */
    boolean freezeFileSystem();

    /** Undoes {@link #freezeFileSystem}. */
    void thawFileSystem();

    /** Closes the gate of the guest's channel and stops the processors. */
    void stop();

    /** Writes the device state of a stopped VM into its device file. */
    void saveDevice();

    /** Lets a stopped VM go on: clock, gate and workload. Does nothing to one that runs. */
    void resume();

    /**
     * Makes a stopped VM that ran for nobody a session's: it goes on with clock and randomness
     * renewed and its identity known before anything of the workload runs. Its files lie in the
     * start's directory now; slot and start id stay. After a failure it is ended.
     */
    void handOver(VmStart start);

    /**
     * Holds the VM as a whole where it is, so that it writes nothing more; calls into the guest
     * wait. May be used beside any other call; not to be had while one of {@link #quiesce} to
     * {@link #thaw} or {@link #resume} is at work, which also undo it.
     */
    VmHold held();

    /** True when the processors are stopped. */
    boolean isStopped();

    /** Ends the VM and returns when it is gone. Repeating it is success. */
    void end();

    /** Completed when the VM is gone, whoever ended it. */
    CompletableFuture<VmExit> exit();

    /** Lets go of the VM without ending it, as when this process stops. */
    void detach();
}
