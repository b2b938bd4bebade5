package dev.space.verification.live;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * What a platform holds on the machine, found by looking at the machine: processes by uid, session
 * directories, VMs' mounts, cgroups and namespaces with something in them, and open rows.
 */
final class Census {

    private static final Duration COLLECT_MAX = Duration.ofSeconds(20);

    private final Platform platform;

    Census(Platform platform) {
        this.platform = platform;
    }

    static List<Long> pids() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc"))) {
            return all.map(p -> String.valueOf(p.getFileName()))
                    .filter(name -> name.matches("[0-9]+"))
                    .map(Long::valueOf)
                    .toList();
        }
    }

    /** Everything that belongs to sandboxes; empty when none is there and none left a trace. */
    Set<String> sandboxes() throws IOException, SQLException {
        Set<String> found = new TreeSet<>();
        for (long pid : pids()) {
            if (Platform.isRunning(pid) && ofSlot(pid)) {
                found.add("process " + pid + " of a slot's uid");
            }
        }
        found.addAll(sessionDirectories());
        found.addAll(busyCgroups());
        found.addAll(openRows());
        return found;
    }

    private boolean ofSlot(long pid) throws IOException {
        try {
            int uid = (int) Files.getAttribute(Path.of("/proc/" + pid), "unix:uid");
            return uid >= platform.uidBase() && uid < platform.uidBase() + platform.slots();
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    private List<String> sessionDirectories() throws IOException {
        List<String> found = new ArrayList<>();
        for (String area : List.of("sessions", "staging", "trash")) {
            try (Stream<Path> volumes = Files.list(platform.data().resolve("node/volumes"))) {
                for (Path volume : volumes.toList()) {
                    found.addAll(children(volume.resolve(area)));
                }
            }
        }
        return found;
    }

    private static List<String> children(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(directory)) {
            return all.map(p -> "directory " + p).toList();
        }
    }

    private List<String> busyCgroups() throws IOException {
        List<String> found = new ArrayList<>();
        for (Path cgroup : cgroups()) {
            Path processes = cgroup.resolve("cgroup.procs");
            if (Files.exists(processes) && !Files.readString(processes).isBlank()) {
                found.add("cgroup " + cgroup + " with processes");
            }
        }
        return found;
    }

    /** The platform's slots in every cgroup hierarchy. */
    private List<Path> cgroups() throws IOException {
        String own = "space/" + platform.instance();
        List<Path> found = new ArrayList<>();
        try (Stream<Path> hierarchies = Files.list(Path.of("/sys/fs/cgroup"))) {
            List<Path> roots = new ArrayList<>(hierarchies.filter(Files::isDirectory).toList());
            roots.add(Path.of("/sys/fs/cgroup"));
            for (Path root : roots) {
                if (!Files.isSymbolicLink(root) && Files.isDirectory(root.resolve(own))) {
                    try (Stream<Path> slots = Files.list(root.resolve(own))) {
                        slots.filter(Files::isDirectory).forEach(found::add);
                    }
                }
            }
        }
        return found;
    }

    private List<String> openRows() throws IOException, SQLException {
        List<String> found = new ArrayList<>();
        try (Connection database = database()) {
            query(
                    database,
                    "SELECT 'session ' || id || ' is ' || state FROM sessions"
                            + " WHERE state <> 'DESTROYED'",
                    found);
            query(
                    database,
                    "SELECT kind || ' ' || id || ' of ' || session_id || ' is ' || state"
                            + " FROM operations WHERE ended_at IS NULL",
                    found);
            query(
                    database,
                    "SELECT 'clean-up owed for ' || session_id || ': ' || why FROM cleanup_owed",
                    found);
        }
        return found;
    }

    private static void query(Connection database, String sql, List<String> into)
            throws SQLException {
        try (var statement = database.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                into.add(rows.getString(1));
            }
        }
    }

    private Connection database() throws IOException, SQLException {
        Properties control = new Properties();
        try (var in = Files.newBufferedReader(platform.data().resolve("run/control.properties"))) {
            control.load(in);
        }
        Path password = Path.of(control.getProperty("space.database.password-file"));
        return DriverManager.getConnection(
                control.getProperty("space.database.url"),
                control.getProperty("space.database.user"),
                Files.readString(password).strip());
    }

    /** What may grow without bound if something leaks: a name and a count each. */
    Map<String, Long> figures() throws IOException {
        Map<String, Long> figures = new TreeMap<>();
        for (String service : Platform.SERVICES) {
            long pid = platform.pid(service);
            collectGarbage(pid);
            figures.put("rss-kib " + service, rssKib(pid));
            figures.put("descriptors " + service, descriptors(pid));
            figures.put("threads " + service, entries(Path.of("/proc/" + pid + "/task")));
        }
        figures.put("namespaces", (long) namespaces().size());
        figures.put("cgroups", (long) cgroups().size());
        figures.put("sockets-directory", entries(platform.sockets()));
        figures.put("exit-records", entries(platform.data().resolve("manager")));
        return figures;
    }

    /**
     * What is garbage says nothing of a leak; a heap may grow up to its bound before it is kept.
     */
    private static void collectGarbage(long pid) throws IOException {
        Path program = Files.readSymbolicLink(Path.of("/proc/" + pid + "/exe"));
        if (!program.endsWith("bin/java")) {
            return;
        }
        Process jcmd =
                new ProcessBuilder(
                                program.resolveSibling("jcmd").toString(),
                                Long.toString(pid),
                                "GC.run")
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        try {
            if (!jcmd.waitFor(COLLECT_MAX.toSeconds(), TimeUnit.SECONDS)) {
                jcmd.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Without jars: a class loader opens each of them once, when something in it is first looked
     * for, which may be minutes after the start.
     */
    private static long descriptors(long pid) throws IOException {
        long count = 0;
        try (Stream<Path> all = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            for (Path descriptor : (Iterable<Path>) all::iterator) {
                try {
                    String file = Files.readSymbolicLink(descriptor).toString();
                    count += file.endsWith(".jar") ? 0 : 1;
                } catch (NoSuchFileException e) {
                    // It was closed while it was looked at.
                }
            }
        }
        return count;
    }

    List<String> namespaces() throws IOException {
        Path all = Path.of("/run/netns");
        if (!Files.isDirectory(all)) {
            return List.of();
        }
        try (Stream<Path> names = Files.list(all)) {
            return names.map(p -> String.valueOf(p.getFileName()))
                    .filter(n -> n.startsWith("space-" + platform.instance() + "-"))
                    .toList();
        }
    }

    private static long rssKib(long pid) throws IOException {
        return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .map(line -> line.replaceAll("[^0-9]", ""))
                .mapToLong(Long::parseLong)
                .findFirst()
                .orElse(0);
    }

    private static long entries(Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory, 1)) {
            return all.count();
        }
    }
}
