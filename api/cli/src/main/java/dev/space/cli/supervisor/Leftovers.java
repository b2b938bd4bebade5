package dev.space.cli.supervisor;

import dev.space.cli.platform.Command;
import dev.space.cli.platform.NodePlace;
import dev.space.cli.platform.Pause;
import dev.space.cli.platform.PlatformException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What VMs leave on the machine when node-manager could not take it away: their processes, cgroups
 * and network namespaces. Found by looking at names that carry the node's tag, never by a list.
 */
final class Leftovers {

    private static final Path CGROUPS = Path.of("/sys/fs/cgroup");
    private static final Path NAMESPACES = Path.of("/run/netns");
    private static final Duration COMMAND_MAX = Duration.ofSeconds(20);
    private static final Duration DEATH_MAX = Duration.ofSeconds(15);
    private static final Duration LOOK_EVERY = Duration.ofMillis(50);

    private final String instance;

    Leftovers(NodePlace place) {
        this.instance = place.instance();
    }

    void remove() {
        try {
            List<Path> slots = slots();
            for (Path slot : slots) {
                thaw(slot);
                kill(slot);
            }
            for (Path slot : slots) {
                removeCgroup(slot);
            }
            for (Path parent : parents()) {
                Files.deleteIfExists(parent);
            }
            removeNamespaces();
        } catch (IOException e) {
            throw new PlatformException("cannot clean up after VMs: " + e.getMessage(), e);
        }
    }

    /** This node's directory in each cgroup hierarchy: v1 has one for each controller. */
    private List<Path> parents() throws IOException {
        List<Path> found = new ArrayList<>();
        try (Stream<Path> hierarchies = Files.list(CGROUPS)) {
            Stream.concat(Stream.of(CGROUPS), hierarchies.filter(p -> !Files.isSymbolicLink(p)))
                    .map(h -> h.resolve("space").resolve(instance))
                    .filter(Files::isDirectory)
                    .forEach(found::add);
        }
        return found;
    }

    private List<Path> slots() throws IOException {
        List<Path> found = new ArrayList<>();
        for (Path parent : parents()) {
            try (DirectoryStream<Path> children =
                    Files.newDirectoryStream(parent, p -> Files.isDirectory(p))) {
                children.forEach(found::add);
            }
        }
        return found;
    }

    /** A frozen process dies only when it is thawed. */
    private static void thaw(Path slot) throws IOException {
        Path v1 = slot.resolve("freezer.state");
        Path v2 = slot.resolve("cgroup.freeze");
        if (Files.exists(v1)) {
            Files.writeString(v1, "THAWED");
        } else if (Files.exists(v2)) {
            Files.writeString(v2, "0");
        }
    }

    private static void kill(Path slot) throws IOException {
        Path procs = slot.resolve("cgroup.procs");
        if (!Files.exists(procs)) {
            return;
        }
        for (String pid : Files.readAllLines(procs)) {
            var _ = Command.run(COMMAND_MAX, List.of("kill", "-KILL", "--", pid.strip()));
        }
    }

    private static void removeCgroup(Path slot) throws IOException {
        long deadline = System.nanoTime() + DEATH_MAX.toNanos();
        while (Files.exists(slot)) {
            try {
                Files.deleteIfExists(slot);
            } catch (IOException e) {
                // Busy until its processes are reaped.
                if (System.nanoTime() > deadline) {
                    throw e;
                }
                Pause.of(LOOK_EVERY);
            }
        }
    }

    private void removeNamespaces() throws IOException {
        if (!Files.isDirectory(NAMESPACES)) {
            return;
        }
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> all =
                Files.newDirectoryStream(NAMESPACES, "space-" + instance + "-*")) {
            all.forEach(p -> names.add(String.valueOf(p.getFileName())));
        }
        for (String name : names) {
            var _ = Command.must(COMMAND_MAX, "ip", "netns", "del", name);
        }
    }
}
