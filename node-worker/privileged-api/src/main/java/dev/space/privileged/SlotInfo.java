package dev.space.privileged;

/**
 * What the machine shows of one slot.
 *
 * @param alive a process is in the slot's cgroup
 * @param pid of the VMM in the machine's namespace, 0 when none is alive
 * @param startId of the newest start of this slot, 0 when there was none
 * @param directory name of the newest start's VM (a session's id), empty when there was none
 * @param memoryBytes in use by the cgroup now
 * @param cpuMicros used by the cgroup since the VMM's start
 * @param oomKills counted in the cgroup since the VMM's start
 */
public record SlotInfo(
        int slot,
        boolean alive,
        boolean frozen,
        int pid,
        long startId,
        String directory,
        long memoryBytes,
        long memoryPeakBytes,
        long cpuMicros,
        long oomKills) {

    /** Upper bound of one entry on the wire. */
    static final int WIRE_BYTES_MAX = 160;

    public SlotInfo {
        Checks.slot(slot);
        Checks.range(directory.length(), 0, 80, "length of directory");
    }
}
