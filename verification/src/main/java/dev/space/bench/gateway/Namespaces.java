package dev.space.bench.gateway;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Three network namespaces: a slot's, with the redirection of node-manager's packet filter; a
 * sandbox's behind it, joined by a veth pair instead of a TAP and a VM; and an outside, with a
 * second pair to the sandbox's for what goes there directly.
 */
final class Namespaces implements AutoCloseable {

    /** Of the outside, as the sandbox reaches it directly. */
    static final String OUTSIDE_ADDRESS = "10.202.0.2";

    private static final Duration STEP_MAX = Duration.ofSeconds(20);
    private static final Path CONFIGURATIONS = Path.of("/etc/netns");
    private static final String REDIRECTION =
            """
            table inet space {
              chain lead { type nat hook prerouting priority dstnat; policy accept;
                iifname "tap0" ip protocol tcp redirect to :15001
                iifname "tap0" udp dport 53 redirect to :15053
              }
              chain fw { type filter hook forward priority filter; policy drop; }
            }
            """;

    private final String slot;
    private final String guest;
    private final String outside;

    private Namespaces(String tag) {
        slot = tag + "s";
        guest = tag + "g";
        outside = tag + "o";
    }

    static Namespaces make(String tag, String name) throws IOException {
        Namespaces made = new Namespaces(tag);
        boolean whole = false;
        try {
            made.join();
            made.configure(name);
            whole = true;
            return made;
        } finally {
            if (!whole) {
                made.close();
            }
        }
    }

    private void join() throws IOException {
        for (String namespace : List.of(slot, guest, outside)) {
            ip("netns add " + namespace);
            ip("-n " + namespace + " link set lo up");
        }
        ip("-n " + slot + " link add tap0 type veth peer name eth0 netns " + guest);
        ip("-n " + guest + " link add out0 type veth peer name in0 netns " + outside);
        address(slot, "tap0", "10.200.0.1/30");
        address(guest, "eth0", "10.200.0.2/30");
        address(guest, "out0", "10.202.0.1/30");
        address(outside, "in0", OUTSIDE_ADDRESS + "/30");
        ip("-n " + guest + " route add default via 10.200.0.1");
        Commands.run(STEP_MAX, REDIRECTION, List.of("ip", "netns", "exec", slot, "nft", "-f", "-"));
    }

    private static void address(String namespace, String device, String address)
            throws IOException {
        ip("-n " + namespace + " addr add " + address + " dev " + device);
        ip("-n " + namespace + " link set " + device + " up");
    }

    /** The sandbox asks the gateway; in the outside the name is the outside itself. */
    private void configure(String name) throws IOException {
        Path ofGuest = Files.createDirectories(CONFIGURATIONS.resolve(guest));
        Files.writeString(ofGuest.resolve("resolv.conf"), "nameserver 10.200.0.1\n");
        Path ofOutside = Files.createDirectories(CONFIGURATIONS.resolve(outside));
        Files.writeString(ofOutside.resolve("hosts"), "127.0.0.1 localhost " + name + "\n");
    }

    private static void ip(String line) throws IOException {
        Commands.run(STEP_MAX, "", Stream.of(("ip " + line).split(" ", -1)).toList());
    }

    Path slotFile() {
        return Path.of("/run/netns", slot);
    }

    List<String> inGuest(List<String> command) {
        return in(guest, command);
    }

    List<String> inOutside(List<String> command) {
        return in(outside, command);
    }

    private static List<String> in(String namespace, List<String> command) {
        List<String> all = new ArrayList<>(List.of("ip", "netns", "exec", namespace));
        all.addAll(command);
        return all;
    }

    /** Leaves nothing on the machine. */
    @Override
    public void close() throws IOException {
        for (String namespace : List.of(slot, guest, outside)) {
            if (Files.exists(Path.of("/run/netns", namespace))) {
                ip("netns del " + namespace);
            }
            Path configuration = CONFIGURATIONS.resolve(namespace);
            Files.deleteIfExists(configuration.resolve("resolv.conf"));
            Files.deleteIfExists(configuration.resolve("hosts"));
            Files.deleteIfExists(configuration);
        }
    }
}
