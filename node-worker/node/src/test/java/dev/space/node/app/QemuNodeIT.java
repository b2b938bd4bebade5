package dev.space.node.app;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.space.node.sandbox.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * The contract on real VMs: node-manager, space-jail, QEMU and the guest's daemon, on a btrfs image
 * of its own. Needs root, the machine's cache with the minimal template ({@code SPACE_TEST_CACHE}),
 * and the built node-manager and space-jail.
 */
final class QemuNodeIT extends NodeContract {

    private static final int SLOT_BASE = 63_000;
    private static final int SLOTS = 4;
    private static final int WORKER = 62_999;

    private static Path base = Path.of("/");
    private static int port;
    private static String template = "";
    private static boolean mounted;
    private static @Nullable Process manager;
    private static @Nullable Process node;

    @BeforeAll
    static void startAll() throws Exception {
        int uid = (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        need(uid == 0, "it needs root");
        Path cache = Path.of(System.getenv().getOrDefault("SPACE_TEST_CACHE", "/var/cache/space"));
        // Of these sources where the launcher says so, else whatever was built last.
        Path names =
                Path.of(
                        System.getenv()
                                .getOrDefault(
                                        "SPACE_TEMPLATE_NAMES", cache + "/templates/by-name"));
        Path name = names.resolve("minimal");
        need(Files.exists(name), "there is no minimal template in " + names);
        template = Files.readString(name).strip();
        Path modules = Path.of("..").toRealPath();
        Path jar = modules.resolve("manager/target/space-manager-0.1.0-SNAPSHOT.jar");
        need(Files.exists(jar), "node-manager is not built: " + jar);
        Path jail =
                Path.of(
                        System.getenv()
                                .getOrDefault(
                                        "SPACE_TEST_JAIL",
                                        modules.resolve(
                                                        "jail/target/x86_64-unknown-linux-musl"
                                                                + "/release/space-jail")
                                                .toString()));
        need(Files.exists(jail), "space-jail is not built: " + jail);
        base = Files.createTempDirectory("qn");
        run("truncate", "-s", "6G", base + "/img");
        run("mkfs.btrfs", "-q", base + "/img");
        for (String directory : List.of("node", "state", "exits", "run")) {
            Files.createDirectory(base.resolve(directory));
        }
        run("mount", "-o", "loop", base + "/img", base + "/node");
        mounted = true;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        startManager(jar, jail, cache);
        startNode(cache, names);
    }

    private static void need(boolean holds, String reason) {
        if (!holds) {
            System.out.println("QemuNodeIT not run here: " + reason);
        }
        assumeTrue(holds, reason);
    }

    private static void run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).inheritIO().start();
        if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IllegalStateException(String.join(" ", command) + " failed");
        }
    }

    private static Path socket() {
        return base.resolve("run/manager.sock");
    }

    private static void startManager(Path jar, Path jail, Path cache) throws Exception {
        Path config = base.resolve("manager.properties");
        Files.writeString(
                config,
                """
                space.manager.instance=nodeit
                space.node.slots=4
                space.node.slot-uid-base=%1$d
                space.node.data-dir=%2$s/node
                space.node.cache-dir=%3$s
                space.node.manager-socket=%4$s
                space.manager.exits-dir=%2$s/exits
                space.manager.jail=%5$s
                space.manager.worker-user=%6$d
                space.node.accelerator=tcg
                """
                        .formatted(SLOT_BASE, base, cache, socket(), jail, WORKER));
        manager =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                                "--enable-native-access=ALL-UNNAMED",
                                "-jar",
                                jar.toString(),
                                "--config",
                                config.toString())
                        .redirectErrorStream(true)
                        .redirectOutput(base.resolve("manager.log").toFile())
                        .start();
        long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (!Files.exists(socket())) {
            if (System.nanoTime() > end || manager.waitFor(50, TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException(Files.readString(base.resolve("manager.log")));
            }
        }
    }

    private static void startNode(Path cache, Path names) throws Exception {
        Files.writeString(base.resolve("token"), "secret\n");
        for (String own : List.of("token", "node", "state")) {
            Files.setAttribute(base.resolve(own), "unix:uid", WORKER);
        }
        Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.writeString(
                base.resolve("node.properties"),
                """
                space.node.id=nodeit
                space.node.token-file=%1$s/token
                space.node.api-port=%2$d
                space.node.http-port=0
                space.node.data-dir=%1$s/node
                space.node.state-dir=%1$s/state
                space.node.cache-dir=%3$s
                space.node.template-names-dir=%5$s
                space.node.engine=qemu
                space.node.prepare=minimal:xs
                space.node.slots=4
                space.node.manager-socket=%4$s
                space.node.disk-reserve-mib=256
                space.node.rolling.disk-seconds=0
                space.node.rolling.full-seconds=0
                space.node.pool.hot=1
                space.node.pool.prepared=1
                """
                        .formatted(base, port, cache, socket(), names));
        openNode();
        long end = System.nanoTime() + Duration.ofMinutes(3).toNanos();
        Path ready = base.resolve("node/volumes/main/templates/" + template + "/xs/meta.json");
        while (!Files.exists(ready)) {
            Process running = node;
            boolean ended = running != null && running.waitFor(100, TimeUnit.MILLISECONDS);
            if (System.nanoTime() > end || ended) {
                throw new IllegalStateException(
                        "no start snapshot: " + Files.readString(base.resolve("node.log")));
            }
        }
    }

    private static void awaitPort() {
        Await.until(
                "the node serves again",
                () -> {
                    try (Socket probe = new Socket(InetAddress.getLoopbackAddress(), port)) {
                        return probe.isConnected();
                    } catch (IOException e) {
                        return false;
                    }
                });
    }

    /** As its own user with the slots' groups, as the supervisor starts it. */
    private static void openNode() throws IOException {
        node =
                new ProcessBuilder(
                                "setpriv",
                                "--reuid",
                                Integer.toString(WORKER),
                                "--regid",
                                Integer.toString(WORKER),
                                "--groups",
                                SLOT_BASE
                                        + ","
                                        + (SLOT_BASE + 1)
                                        + ","
                                        + (SLOT_BASE + 2)
                                        + ","
                                        + (SLOT_BASE + 3),
                                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                                "-jar",
                                "target/space-node-0.1.0-SNAPSHOT.jar",
                                "--config",
                                base.resolve("node.properties").toString())
                        .redirectErrorStream(true)
                        .redirectOutput(
                                ProcessBuilder.Redirect.appendTo(base.resolve("node.log").toFile()))
                        .start();
    }

    @AfterAll
    static void stopAll() throws Exception {
        if (node != null) {
            node.destroy();
            node.waitFor(20, TimeUnit.SECONDS);
        }
        if (manager != null) {
            manager.destroy();
            manager.waitFor(20, TimeUnit.SECONDS);
        }
        for (int slot = 0; slot < 4; slot++) {
            Path namespace = Path.of("/run/netns/space-nodeit-" + slot);
            if (Files.exists(namespace)) {
                run("ip", "netns", "del", namespace.getFileName().toString());
            }
        }
        if (mounted) {
            run("umount", base + "/node");
            try (Stream<Path> all = Files.walk(base)) {
                for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(path);
                }
            }
        }
    }

    @Override
    NodeClient client() {
        return new NodeClient(port, "secret", template, "xs");
    }

    @Override
    String counter() {
        return "i=0; while true; do i=$((i+1)); echo $i; sleep 0.05; done";
    }

    @Override
    String diskWrite() {
        return "echo kept > f; sync";
    }

    @Override
    void killVm(NodeClient client) {
        vmms("/sessions/" + client.session() + "/")
                .forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
    }

    @Override
    int waitingVms() {
        return vmms("/staging/pool-").size();
    }

    /** VMMs of this node's slots, by where the files in their mount namespace lie. */
    private static List<Long> vmms(String place) {
        return ProcessHandle.allProcesses()
                .map(ProcessHandle::pid)
                .filter(pid -> isVmm(Path.of("/proc", Long.toString(pid)), place))
                .toList();
    }

    private static boolean isVmm(Path process, String place) {
        try {
            int uid = (int) Files.getAttribute(process, "unix:uid");
            return uid >= SLOT_BASE
                    && uid < SLOT_BASE + SLOTS
                    && Files.readString(process.resolve("comm")).startsWith("qemu")
                    && Files.readString(process.resolve("mountinfo")).contains(place);
        } catch (IOException e) {
            return false; // it ended while it was looked at
        }
    }

    @Override
    void restartNode() throws Exception {
        Process running = node;
        if (running != null) {
            running.destroyForcibly().waitFor();
        }
        openNode();
        awaitPort();
    }
}
