package dev.space.manager;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * cgroup v1: one hierarchy for each controller, {@code
 * <root>/<controller>/space/<instance>/<name>}.
 */
final class CgroupsV1 implements Cgroups {

    private static final List<String> CONTROLLERS =
            List.of("memory", "cpu", "pids", "freezer", "cpuacct");
    private static final int PERIOD_MICROS = 100_000;

    /** What a thread at ordinary priority has. */
    private static final int SHARES_OF_A_THREAD = 1024;

    private final Path root;
    private final String instance;
    private final List<String> controllers;

    CgroupsV1(Path root, String instance) {
        this.root = root;
        this.instance = instance;
        this.controllers =
                CONTROLLERS.stream().filter(c -> Files.isDirectory(root.resolve(c))).toList();
    }

    private Path path(String controller, String name) {
        return root.resolve(controller).resolve("space").resolve(instance).resolve(name);
    }

    @Override
    public void ensure(String name) throws IOException {
        for (String controller : controllers) {
            Files.createDirectories(path(controller, name));
        }
    }

    @Override
    public void limit(String name, Limits limits) throws IOException {
        Path memory = path("memory", name);
        CgroupFiles.write(
                memory.resolve("memory.limit_in_bytes"), String.valueOf(limits.memoryBytes()));
        Path cpu = path("cpu", name);
        CgroupFiles.write(cpu.resolve("cpu.cfs_period_us"), String.valueOf(PERIOD_MICROS));
        long quota = (long) PERIOD_MICROS * limits.cpuPercent() / 100;
        CgroupFiles.write(cpu.resolve("cpu.cfs_quota_us"), String.valueOf(quota));
        CgroupFiles.write(path("pids", name).resolve("pids.max"), String.valueOf(limits.tasks()));
        int cpus = Runtime.getRuntime().availableProcessors();
        String together = String.valueOf(SHARES_OF_A_THREAD * THREADS_PER_CPU * cpus);
        Path all = root.resolve("cpu").resolve("space");
        CgroupFiles.write(all.resolve("cpu.shares"), together);
        CgroupFiles.write(all.resolve(instance).resolve("cpu.shares"), together);
    }

    @Override
    public List<Path> directories(String name) {
        return controllers.stream().map(c -> path(c, name)).toList();
    }

    @Override
    public List<Integer> processes(String name) throws IOException {
        // A process joins memory first and pids among the last: look at both ends.
        Set<Integer> all = new java.util.TreeSet<>();
        for (String controller : controllers) {
            all.addAll(Cgroups.readProcesses(path(controller, name).resolve("cgroup.procs")));
        }
        return List.copyOf(all);
    }

    @Override
    public Figures figures(String name) throws IOException {
        Path memory = path("memory", name);
        return new Figures(
                Cgroups.number(memory.resolve("memory.usage_in_bytes")),
                Cgroups.number(memory.resolve("memory.max_usage_in_bytes")),
                Cgroups.number(path("cpuacct", name).resolve("cpuacct.usage")) / 1000,
                Cgroups.keyed(memory.resolve("memory.oom_control"), "oom_kill"));
    }

    @Override
    public boolean frozen(String name) throws IOException {
        Path state = path("freezer", name).resolve("freezer.state");
        return Files.exists(state) && !Files.readString(state).strip().equals("THAWED");
    }

    @Override
    public void freeze(String name, boolean frozen, Duration timeout) throws IOException {
        Path state = path("freezer", name).resolve("freezer.state");
        String want = frozen ? "FROZEN" : "THAWED";
        CgroupFiles.write(state, want);
        if (!CgroupFiles.await(timeout, () -> Files.readString(state).strip().equals(want))) {
            throw new IOException(state + " did not become " + want + " in " + timeout);
        }
    }

    @Override
    public void remove(String name) throws IOException {
        for (String controller : controllers) {
            CgroupFiles.remove(path(controller, name));
            // The instance's own directory goes with its last slot.
            boolean _ =
                    root.resolve(controller).resolve("space").resolve(instance).toFile().delete();
        }
    }

    @Override
    public Set<String> names() throws IOException {
        Set<String> names = CgroupFiles.newNames();
        for (String controller : controllers) {
            CgroupFiles.names(root.resolve(controller).resolve("space").resolve(instance), names);
        }
        return names;
    }
}
