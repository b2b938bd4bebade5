package dev.space.manager;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * cgroup v2: one hierarchy, {@code <root>/space/<instance>/<name>}, controllers enabled above it.
 */
final class CgroupsV2 implements Cgroups {

    private static final int PERIOD_MICROS = 100_000;

    /** What a thread at ordinary priority has, in this version's measure. */
    private static final int WEIGHT_OF_A_THREAD = 100;

    private static final int WEIGHT_MAX = 10_000;
    private static final String CONTROLLERS = "+cpu +memory +pids";

    private final Path root;
    private final Path parent;

    CgroupsV2(Path root, String instance) {
        this.root = root;
        this.parent = root.resolve("space").resolve(instance);
    }

    @Override
    public void ensure(String name) throws IOException {
        Files.createDirectories(parent);
        CgroupFiles.write(root.resolve("cgroup.subtree_control"), CONTROLLERS);
        CgroupFiles.write(root.resolve("space/cgroup.subtree_control"), CONTROLLERS);
        CgroupFiles.write(parent.resolve("cgroup.subtree_control"), CONTROLLERS);
        Files.createDirectories(parent.resolve(name));
    }

    @Override
    public void limit(String name, Limits limits) throws IOException {
        Path slot = parent.resolve(name);
        CgroupFiles.write(slot.resolve("memory.max"), String.valueOf(limits.memoryBytes()));
        Path swap = slot.resolve("memory.swap.max");
        if (Files.exists(swap)) {
            CgroupFiles.write(swap, "0");
        }
        long quota = (long) PERIOD_MICROS * limits.cpuPercent() / 100;
        CgroupFiles.write(slot.resolve("cpu.max"), quota + " " + PERIOD_MICROS);
        CgroupFiles.write(slot.resolve("pids.max"), String.valueOf(limits.tasks()));
        int cpus = Runtime.getRuntime().availableProcessors();
        int together = Math.min(WEIGHT_OF_A_THREAD * THREADS_PER_CPU * cpus, WEIGHT_MAX);
        CgroupFiles.write(root.resolve("space/cpu.weight"), String.valueOf(together));
        CgroupFiles.write(parent.resolve("cpu.weight"), String.valueOf(together));
    }

    @Override
    public List<Path> directories(String name) {
        return List.of(parent.resolve(name));
    }

    @Override
    public List<Integer> processes(String name) throws IOException {
        return Cgroups.readProcesses(parent.resolve(name).resolve("cgroup.procs"));
    }

    @Override
    public Figures figures(String name) throws IOException {
        Path slot = parent.resolve(name);
        return new Figures(
                Cgroups.number(slot.resolve("memory.current")),
                Cgroups.number(slot.resolve("memory.peak")),
                Cgroups.keyed(slot.resolve("cpu.stat"), "usage_usec"),
                Cgroups.keyed(slot.resolve("memory.events"), "oom_kill"));
    }

    @Override
    public boolean frozen(String name) throws IOException {
        return Cgroups.number(parent.resolve(name).resolve("cgroup.freeze")) == 1;
    }

    @Override
    public void freeze(String name, boolean frozen, Duration timeout) throws IOException {
        Path slot = parent.resolve(name);
        CgroupFiles.write(slot.resolve("cgroup.freeze"), frozen ? "1" : "0");
        long want = frozen ? 1 : 0;
        Path events = slot.resolve("cgroup.events");
        if (!CgroupFiles.await(timeout, () -> Cgroups.keyed(events, "frozen") == want)) {
            throw new IOException(events + " did not show frozen " + want + " in " + timeout);
        }
    }

    @Override
    public void remove(String name) throws IOException {
        CgroupFiles.remove(parent.resolve(name));
        // The instance's own directory goes with its last slot.
        boolean _ = parent.toFile().delete();
    }

    @Override
    public Set<String> names() throws IOException {
        Set<String> names = CgroupFiles.newNames();
        CgroupFiles.names(parent, names);
        return names;
    }
}
