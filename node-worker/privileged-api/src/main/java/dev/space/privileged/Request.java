package dev.space.privileged;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;

/** The closed list of what node-worker may ask. Each names its slot; none names a path. */
public sealed interface Request {

    /** Makes the slot (namespace, TAP, packet filter, cgroup) or leaves it when it is there. */
    record EnsureSlot(int slot) implements Request {
        public EnsureSlot {
            Checks.slot(slot);
        }
    }

    /**
     * Starts the bundle's VMM in the slot's jail. Refused with SLOT_BUSY while a VMM runs there,
     * except for the same start id: then the running one is the answer.
     *
     * @param startId chosen by node-worker, positive, never used twice for a slot
     * @param memoryMiB limit of the cgroup: guest memory and about 256 MiB more
     * @param cpuPercent limit in hundredths of a CPU
     * @param tasks limit of threads
     * @param arguments of the VMM, without the executable, which is always the bundle's
     */
    record StartVmm(
            int slot,
            long startId,
            VmDirectory directory,
            String bundleDigest,
            int memoryMiB,
            int cpuPercent,
            int tasks,
            List<String> arguments)
            implements Request {

        private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

        public StartVmm {
            Checks.slot(slot);
            Checks.range(startId, 1, Long.MAX_VALUE, "startId");
            Checks.matches(DIGEST, bundleDigest, "bundleDigest");
            Checks.range(
                    memoryMiB,
                    PrivilegedLimits.MEMORY_MIB_MIN,
                    PrivilegedLimits.MEMORY_MIB_MAX,
                    "memoryMiB");
            Checks.range(
                    cpuPercent,
                    PrivilegedLimits.CPU_PERCENT_MIN,
                    PrivilegedLimits.CPU_PERCENT_MAX,
                    "cpuPercent");
            Checks.range(tasks, PrivilegedLimits.TASKS_MIN, PrivilegedLimits.TASKS_MAX, "tasks");
            arguments = List.copyOf(arguments);
            checkArguments(arguments);
        }

        private static void checkArguments(List<String> arguments) {
            Checks.range(arguments.size(), 1, PrivilegedLimits.ARGUMENTS_MAX, "arguments");
            long bytes = 0;
            for (String argument : arguments) {
                if (argument.indexOf('\0') >= 0) {
                    throw new IllegalArgumentException("an argument contains NUL");
                }
                bytes += argument.getBytes(StandardCharsets.UTF_8).length + 1L;
            }
            Checks.range(bytes, 1, PrivilegedLimits.ARGUMENT_BYTES_MAX, "bytes of arguments");
        }
    }

    /** What is on the machine now, slot by slot. */
    record DescribeSlots() implements Request {}

    /** Stops all threads of the slot's VMM until they are thawed. */
    record FreezeSlot(int slot) implements Request {
        public FreezeSlot {
            Checks.slot(slot);
        }
    }

    /** Undoes FreezeSlot. */
    record ThawSlot(int slot) implements Request {
        public ThawSlot {
            Checks.slot(slot);
        }
    }

    /** Kills everything in the slot's cgroup and waits for its end. Success when nothing ran. */
    record KillVmm(int slot) implements Request {
        public KillVmm {
            Checks.slot(slot);
        }
    }

    /** How the VMM of this start ended. Read it before the slot's next start: OOM counts end. */
    record ReadExit(int slot, long startId) implements Request {
        public ReadExit {
            Checks.slot(slot);
            Checks.range(startId, 1, Long.MAX_VALUE, "startId");
        }
    }

    /** Removes the slot and its exit records. Refused with SLOT_BUSY while a VMM runs there. */
    record ReleaseSlot(int slot) implements Request {
        public ReleaseSlot {
            Checks.slot(slot);
        }
    }
}
