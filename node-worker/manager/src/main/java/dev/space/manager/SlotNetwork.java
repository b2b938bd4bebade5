package dev.space.manager;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A slot's network: a namespace with a TAP for the slot's uid and a packet filter that drops and
 * counts everything that the guest sends. Addresses and MAC are the same in every namespace, so
 * that a snapshot fits each.
 */
final class SlotNetwork {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Path NAMESPACES = Path.of("/run/netns");

    /** Loaded in one transaction: there is no moment without the filter. */
    private static final String FILTER =
            """
            add table inet space
            delete table inet space
            table inet space {
              counter dropped {}
              chain raw { type filter hook prerouting priority raw; policy accept;
                iifname "tap0" counter name dropped drop; }
              chain in { type filter hook input priority filter; policy drop;
                iifname "lo" accept; counter name dropped; }
              chain fw { type filter hook forward priority filter; policy drop;
                counter name dropped; }
              chain out { type filter hook output priority filter; policy drop;
                oifname "lo" accept; }
            }
            """;

    /** Before the interface is up: no IPv6, no forwarding, then the filter. */
    private static final String PREPARE =
            "set -e; v6=/proc/sys/net/ipv6/conf;"
                    + " if [ -d $v6 ]; then echo 1 >$v6/all/disable_ipv6;"
                    + " echo 1 >$v6/default/disable_ipv6; fi;"
                    + " echo 0 >/proc/sys/net/ipv4/ip_forward; exec nft -f -";

    private SlotNetwork() {}

    static boolean exists(String namespace) {
        return Files.exists(NAMESPACES.resolve(namespace));
    }

    static Path path(String namespace) {
        return NAMESPACES.resolve(namespace);
    }

    /** Makes what is missing; the TAP is always made anew, for it must be this uid's. */
    static void ensure(String namespace, int uid) throws IOException {
        if (!exists(namespace)) {
            Commands.check(TIMEOUT, "", List.of("ip", "netns", "add", namespace));
        }
        Commands.check(
                TIMEOUT, FILTER, List.of("ip", "netns", "exec", namespace, "sh", "-c", PREPARE));
        Commands.Result _ =
                Commands.run(TIMEOUT, "", List.of("ip", "-n", namespace, "link", "del", "tap0"));
        String batch =
                "tuntap add dev tap0 mode tap user "
                        + uid
                        + " vnet_hdr\n"
                        + "link set tap0 address 02:fc:00:00:00:01\n"
                        + "addr add 10.200.0.1/30 dev tap0\n"
                        + "link set lo up\n"
                        + "link set tap0 up\n";
        Commands.check(TIMEOUT, batch, List.of("ip", "-n", namespace, "-batch", "-"));
    }

    static void remove(String namespace) throws IOException {
        if (exists(namespace)) {
            Commands.check(TIMEOUT, "", List.of("ip", "netns", "del", namespace));
        }
    }
}
