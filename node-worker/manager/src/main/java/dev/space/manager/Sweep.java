package dev.space.manager;

import dev.space.nativeabi.PidFd;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Clears what a killed platform left: VMMs (only when told so), cgroups and network namespaces of
 * one instance. Mounts of a VM are in its own mount namespace and end with it.
 */
final class Sweep {

    private static final Duration KILL_TIMEOUT = Duration.ofSeconds(15);

    private final Cgroups cgroups;
    private final String instance;
    private final Path namespaces;

    Sweep(Cgroups cgroups, String instance, Path namespaces) {
        this.cgroups = cgroups;
        this.instance = instance;
        this.namespaces = namespaces;
    }

    /** What was removed, one line each; fails when a VMM is alive and may not be killed. */
    List<String> run(boolean kill) throws IOException {
        Map<String, List<Integer>> alive = new TreeMap<>();
        for (String name : cgroups.names()) {
            if (!cgroups.processes(name).isEmpty()) {
                alive.put(name, cgroups.processes(name));
            }
        }
        if (!alive.isEmpty() && !kill) {
            throw new IOException(
                    "VMMs of instance " + instance + " are alive: " + alive + "; --kill ends them");
        }
        List<String> done = new ArrayList<>();
        for (String name : alive.keySet()) {
            killAll(name);
            done.add("killed what ran in " + name);
        }
        for (String name : new TreeSet<>(cgroups.names())) {
            cgroups.remove(name);
            done.add("removed cgroup " + name);
        }
        for (String namespace : namespaces()) {
            SlotNetwork.remove(namespace);
            done.add("removed network namespace " + namespace);
        }
        return done;
    }

    private void killAll(String name) throws IOException {
        boolean gone =
                CgroupFiles.await(
                        KILL_TIMEOUT,
                        () -> {
                            for (int pid : cgroups.processes(name)) {
                                killOne(name, pid);
                            }
                            return cgroups.processes(name).isEmpty();
                        });
        if (!gone) {
            throw new IOException(name + " still has " + cgroups.processes(name));
        }
    }

    private void killOne(String name, int pid) throws IOException {
        try (PidFd fd = PidFd.open(pid).orElse(null)) {
            if (fd != null && cgroups.processes(name).contains(pid)) {
                fd.signal(PidFd.SIGKILL);
                if (cgroups.frozen(name)) {
                    cgroups.freeze(name, false, Duration.ofSeconds(5));
                }
                boolean _ = fd.awaitExit(Duration.ofSeconds(2));
            }
        }
    }

    private List<String> namespaces() throws IOException {
        if (!Files.isDirectory(namespaces)) {
            return List.of();
        }
        Pattern ours = Pattern.compile("space-" + Pattern.quote(instance) + "-\\d{1,4}");
        try (Stream<Path> files = Files.list(namespaces)) {
            return files.map(f -> String.valueOf(f.getFileName()))
                    .filter(n -> ours.matcher(n).matches())
                    .sorted()
                    .toList();
        }
    }
}
