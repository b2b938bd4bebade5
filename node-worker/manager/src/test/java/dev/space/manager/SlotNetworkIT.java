package dev.space.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.space.privileged.GatewaySocketsClient;
import dev.space.privileged.PrivilegedException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A slot's network for real. The guest is a second namespace with the guest's addresses, joined to
 * the slot's TAP by a process that copies frames; the gateway is a process of another user.
 */
class SlotNetworkIT {

    private static final String INSTANCE = "netit";
    private static final String SLOT = "space-netit-0";
    private static final String GUEST = "space-netit-guest";
    private static final int GATEWAY_UID = 64_991;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @TempDir Path base;
    private final List<Process> processes = new ArrayList<>();
    private Slots slots;
    private GatewayServer server;

    @BeforeEach
    void make() throws Exception {
        boolean root = (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0;
        boolean able = root && runs("nft", "--version") && runs("python3", "--version");
        if (!able) {
            System.out.println("SlotNetworkIT: not run here: needs root, nft and python3");
        }
        assumeTrue(able, "needs root, nft and python3");
        ManagerConfig config = config();
        ExitRecords records = new ExitRecords(Files.createDirectories(config.exitsDir()));
        Worker worker = new Worker("64990", 64_990, 64_990);
        slots =
                new Slots(
                        config,
                        Cgroups.detect(Path.of("/sys/fs/cgroup"), INSTANCE),
                        records,
                        new JailLauncher(config, worker, records));
        Files.setPosixFilePermissions(
                base, java.nio.file.attribute.PosixFilePermissions.fromString("rwx--x--x"));
        Worker gateway = new Worker("" + GATEWAY_UID, GATEWAY_UID, GATEWAY_UID);
        server = GatewayServer.start(socket(), gateway, slots);
        JailFixture.sweep(INSTANCE);
        assertThat(slots.handle(new dev.space.privileged.Request.EnsureSlot(0)).toString())
                .contains("slot=0");
        guest();
    }

    private ManagerConfig config() throws IOException {
        return ManagerConfig.load(
                Files.writeString(
                        base.resolve("c"),
                        String.join(
                                "\n",
                                "space.manager.instance=" + INSTANCE,
                                "space.node.slots=2",
                                "space.node.slot-uid-base=64100",
                                "space.node.data-dir=" + base,
                                "space.node.cache-dir=" + base,
                                "space.node.manager-socket=" + base.resolve("run/manager.sock"),
                                "space.manager.exits-dir=" + base.resolve("exits"),
                                "space.manager.jail=/bin/false",
                                "space.node.accelerator=tcg",
                                "space.manager.worker-user=64990")));
    }

    private Path socket() {
        return base.resolve("run/gateway.sock");
    }

    /** The other end of the wire, up only once the wire holds both ends: then it has a carrier. */
    private void guest() throws Exception {
        ip("netns", "add", GUEST);
        ip("-n", GUEST, "tuntap", "add", "dev", "tap0", "mode", "tap", "vnet_hdr");
        Process wire = script("wire.py", SLOT, GUEST);
        assertThat(line(wire)).isEqualTo("ready");
        ip("-n", GUEST, "link", "set", "tap0", "address", "02:fc:00:00:00:02");
        ip("-n", GUEST, "addr", "add", "10.200.0.2/30", "dev", "tap0");
        ip("-n", GUEST, "link", "set", "lo", "up");
        ip("-n", GUEST, "link", "set", "tap0", "up");
        ip("-n", GUEST, "route", "add", "default", "via", "10.200.0.1");
    }

    @AfterEach
    void clear() throws Exception {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
        if (server != null) {
            server.close();
            JailFixture.sweep(INSTANCE);
            Process _ = start(List.of("ip", "netns", "del", GUEST));
        }
    }

    @Test
    void onlyTcpAndQueriesOfTheGuestsOwnAddressPassTheRestIsCounted() throws Exception {
        Map<String, Long> before = counters();
        assertThat(inGuest("frames.py", "odd")).isEqualTo("sent 16 replies 0");
        Map<String, Long> after = counters();
        // The guest's kernel itself may send IPv6 of its own.
        assertThat(after.get("drop_ipv6")).isGreaterThan(before.get("drop_ipv6"));
        after.remove("drop_ipv6");
        before.remove("drop_ipv6");
        before.put("drop_icmp", 2L);
        before.put("drop_udp", 2L);
        before.put("drop_multicast", 2L);
        before.put("drop_fragments", 2L);
        before.put("drop_ethernet", 2L);
        before.put("drop_spoofed", 3L);
        before.put("drop_options", 1L);
        before.put("drop_other", 1L);
        assertThat(after).isEqualTo(before);
    }

    @Test
    void newConnectionsBeyondTheLimitAreDroppedAndCounted() throws Exception {
        assertThat(inGuest("frames.py", "flood", "3000")).isEqualTo("sent 3000");
        Map<String, Long> counters = counters();
        assertThat(counters.get("drop_excess")).isPositive();
        // The wire itself may lose some of so many.
        assertThat(counters.get("pass_tcp")).isBetween(600L, 2000L);
    }

    @Test
    void withoutAGatewayEverythingIsRefusedAtOnce() throws Exception {
        for (String to : List.of("203.0.113.7", "10.200.0.1", "169.254.169.254", "10.0.0.1")) {
            assertThat(inGuest("guest.py", "tcp", to, "443")).isEqualTo("error ECONNREFUSED");
        }
        assertThat(inGuest("guest.py", "udp", "10.200.0.1", "53")).isEqualTo("error ECONNREFUSED");
    }

    @Test
    void allConnectionsAndQueriesEndAtTheSocketsOfTheSlot() throws Exception {
        Process gateway = script("gateway.py", socket().toString(), "0", "" + GATEWAY_UID);
        assertThat(line(gateway)).isEqualTo("sockets 70 0");
        for (String to : List.of("203.0.113.7 443", "10.200.0.1 22", "127.0.0.1 15001")) {
            String address = to.split(" ", -1)[0];
            String port = to.split(" ", -1)[1];
            if (address.startsWith("127.")) {
                continue; // the guest's own
            }
            assertThat(inGuest("guest.py", "tcp", address, port)).isEqualTo("answer hello");
            assertThat(line(gateway)).isEqualTo("connection " + to + " 10.200.0.2");
        }
        assertThat(inGuest("guest.py", "udp", "9.9.9.9", "53")).isEqualTo("answer hello");
        assertThat(line(gateway)).startsWith("query hello 10.200.0.2 ");
        Map<String, Long> counters = counters();
        assertThat(counters.get("pass_tcp")).isEqualTo(2);
        assertThat(counters.get("pass_dns")).isEqualTo(1);
    }

    @Test
    void aKilledGatewaysConnectionsEndAndTheNextOneGetsSockets() throws Exception {
        Process first = script("gateway.py", socket().toString(), "0", "" + GATEWAY_UID);
        assertThat(line(first)).isEqualTo("sockets 70 0");
        Process program =
                start(
                        List.of(
                                "ip",
                                "netns",
                                "exec",
                                GUEST,
                                "python3",
                                file("guest.py"),
                                "hold",
                                "203.0.113.9",
                                "80"));
        assertThat(line(program)).isEqualTo("answer hello");
        Process other = script("gateway.py", socket().toString(), "0", "" + GATEWAY_UID);
        assertThat(line(other)).isEqualTo("refused SLOT_BUSY");
        first.destroyForcibly().waitFor();
        assertThat(line(program)).matches("end b''|error ECONNRESET");
        assertThat(inGuest("guest.py", "tcp", "203.0.113.7", "80")).isEqualTo("error ECONNREFUSED");
        Process next = script("gateway.py", socket().toString(), "0", "" + GATEWAY_UID);
        assertThat(line(next)).isEqualTo("sockets 70 0");
        assertThat(inGuest("guest.py", "tcp", "203.0.113.7", "80")).isEqualTo("answer hello");
    }

    @Test
    void nobodyElseIsGivenSocketsAndNoneOfASlotThatIsNotThere() throws Exception {
        Process worker = script("gateway.py", socket().toString(), "0", "64990");
        assertThat(worker.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(worker.exitValue()).as("may not even connect").isNotZero();
        Process root = script("gateway.py", socket().toString(), "0", "0");
        assertThat(line(root)).isEqualTo("closed");
        GatewaySocketsClient asRoot = new GatewaySocketsClient(socket(), TIMEOUT);
        assertThatThrownBy(() -> asRoot.issue(0).close())
                .isInstanceOf(PrivilegedException.class)
                .hasMessageContaining("gives no sockets");
        Process gateway = script("gateway.py", socket().toString(), "1", "" + GATEWAY_UID);
        assertThat(line(gateway)).isEqualTo("refused NO_SLOT");
        Process wild = script("gateway.py", socket().toString(), "77", "" + GATEWAY_UID);
        assertThat(line(wild)).isEqualTo("refused INVALID");
    }

    private static Map<String, Long> counters() throws Exception {
        String listed =
                JailFixture.run(TIMEOUT, "ip", "netns", "exec", SLOT, "nft", "list", "ruleset");
        Matcher m = Pattern.compile("counter (\\w+) \\{\\s+packets (\\d+)").matcher(listed);
        Map<String, Long> found = new TreeMap<>();
        while (m.find()) {
            found.put(m.group(1), Long.parseLong(m.group(2)));
        }
        assertThat(found).hasSize(13);
        return found;
    }

    private static void ip(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(arguments));
        String _ = JailFixture.run(TIMEOUT, command.toArray(String[]::new));
    }

    private static boolean runs(String... command) {
        try {
            return !JailFixture.run(TIMEOUT, command).isEmpty();
        } catch (Exception e) {
            return false;
        }
    }

    private static String file(String name) {
        return Path.of("src/test/resources/egress", name).toAbsolutePath().toString();
    }

    private String inGuest(String script, String... arguments) throws Exception {
        List<String> command =
                new ArrayList<>(List.of("ip", "netns", "exec", GUEST, "python3", file(script)));
        command.addAll(List.of(arguments));
        return JailFixture.run(TIMEOUT, command.toArray(String[]::new)).strip();
    }

    private Process script(String name, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("python3", file(name)));
        command.addAll(List.of(arguments));
        return start(command);
    }

    private Process start(List<String> command) throws IOException {
        Process process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        processes.add(process);
        return process;
    }

    private static String line(Process process) throws IOException {
        BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
        String line = lines.readLine();
        return line == null ? "(ended)" : line;
    }
}
