package dev.space.manager;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The cgroup of each slot, whichever version the machine has. Names are relative to it. */
interface Cgroups {

    /** Limits of one VMM. */
    record Limits(long memoryBytes, int cpuPercent, int tasks) {}

    /** What the kernel counted. */
    record Figures(long memoryBytes, long memoryPeakBytes, long cpuMicros, long oomKills) {}

    /**
     * How many busy threads of services all VMs together weigh as much as, for each CPU. A group
     * competes as if it were one thread: with the kernel's default a hundred VMs would get as much
     * as one busy process beside them, and a single one waits several times as long for a CPU.
     */
    int THREADS_PER_CPU = 2;

    /** Makes the slot's directories; those that are there stay. */
    void ensure(String name) throws IOException;

    void limit(String name, Limits limits) throws IOException;

    /** The directories whose cgroup.procs the VMM must join. */
    List<Path> directories(String name);

    /** Processes in the slot, by the machine's numbers; empty when there is no such slot. */
    List<Integer> processes(String name) throws IOException;

    Figures figures(String name) throws IOException;

    boolean frozen(String name) throws IOException;

    /** Freezes or thaws and waits for it. */
    void freeze(String name, boolean frozen, Duration timeout) throws IOException;

    /** Removes the slot's directories; there must be no process. */
    void remove(String name) throws IOException;

    /** All names that exist, by whatever hierarchy has them. */
    Set<String> names() throws IOException;

    /** Picks the version by what is mounted. */
    static Cgroups detect(Path root, String instance) throws IOException {
        Path controllers = root.resolve("cgroup.controllers");
        if (Files.exists(controllers) && Files.readString(controllers).contains("memory")) {
            return new CgroupsV2(root, instance);
        }
        if (Files.isDirectory(root.resolve("memory")) && Files.isDirectory(root.resolve("pids"))) {
            return new CgroupsV1(root, instance);
        }
        throw new IOException(
                "no usable cgroup controllers under " + root + "; memory, cpu and pids are needed");
    }

    /** Numbers of a procs file; an absent file has none. */
    static List<Integer> readProcesses(Path procs) throws IOException {
        List<Integer> pids = new ArrayList<>();
        if (Files.exists(procs)) {
            for (String line : Files.readAllLines(procs)) {
                if (!line.isBlank() && !line.equals("0")) {
                    pids.add(Integer.valueOf(line.strip()));
                }
            }
        }
        return List.copyOf(pids);
    }

    /** The value of one key of a flat keyed file, 0 when absent. */
    static long keyed(Path file, String key) throws IOException {
        if (Files.exists(file)) {
            for (String line : Files.readAllLines(file)) {
                if (line.startsWith(key + " ")) {
                    return Long.parseLong(line.substring(key.length() + 1).strip());
                }
            }
        }
        return 0;
    }

    /** A number alone in a file, 0 when absent. */
    static long number(Path file) throws IOException {
        return Files.exists(file) ? Long.parseLong(Files.readString(file).strip()) : 0;
    }
}
