package dev.space.manager;

import dev.space.privileged.PrivilegedLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A slot's network: a namespace with a TAP for the slot's uid and a packet filter that leads TCP
 * and DNS to the gateway's two sockets, and drops and counts everything else. Addresses and MAC are
 * the same in every namespace, so that a snapshot fits each.
 */
final class SlotNetwork {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Path NAMESPACES = Path.of("/run/netns");

    /**
     * Loaded in one transaction, before the interface is up. The first IP chain sees packets before
     * the kernel puts fragments together, and lets TCP and DNS queries from the guest's own address
     * pass, nothing else. Wherever they go, they end at two ports, where the gateway's sockets are,
     * or nobody: then the guest is told at once. New ones are limited, since each costs the machine
     * a little memory for a while.
     */
    private static final String FILTER =
            """
            add table netdev space
            delete table netdev space
            add table inet space
            delete table inet space
            table netdev space {
              counter drop_ipv6 {}
              counter drop_ethernet {}
              chain wire { type filter hook ingress device "tap0" priority 0; policy accept;
                ether type ip accept
                ether type ip6 counter name drop_ipv6 drop
                ether type arp ether saddr 02:fc:00:00:00:02 accept
                counter name drop_ethernet drop
              }
            }
            table inet space {
              counter pass_tcp {}
              counter pass_dns {}
              counter drop_spoofed {}
              counter drop_options {}
              counter drop_fragments {}
              counter drop_multicast {}
              counter drop_icmp {}
              counter drop_udp {}
              counter drop_other {}
              counter drop_excess {}
              counter dropped {}
              chain early { type filter hook prerouting priority -450; policy drop;
                iifname "lo" accept
                iifname != "tap0" counter name dropped drop
                meta nfproto ipv6 counter name dropped drop
                ether saddr != 02:fc:00:00:00:02 counter name drop_spoofed drop
                ip saddr != 10.200.0.2 counter name drop_spoofed drop
                meta pkttype != host counter name drop_multicast drop
                ip daddr 224.0.0.0/3 counter name drop_multicast drop
                ip hdrlength != 5 counter name drop_options drop
                ip frag-off & 0x3fff != 0 counter name drop_fragments drop
                ip protocol tcp accept
                udp dport 53 accept
                ip protocol udp counter name drop_udp drop
                ip protocol icmp counter name drop_icmp drop
                counter name drop_other drop
              }
              chain fresh { type filter hook prerouting priority -110; policy accept;
                iifname "tap0" ct state new jump limits
              }
              chain limits {
                limit rate over 300/second burst 600 packets counter name drop_excess drop
                ip protocol tcp counter name pass_tcp
                ip protocol udp counter name pass_dns
              }
              chain lead { type nat hook prerouting priority dstnat; policy accept;
                iifname "tap0" ip protocol tcp redirect to :TCP
                iifname "tap0" udp dport 53 redirect to :DNS
              }
              chain in { type filter hook input priority filter; policy drop;
                iifname "lo" accept
                ct state invalid counter name dropped drop
                iifname "tap0" tcp dport TCP accept
                iifname "tap0" udp dport DNS ct status dnat accept
                counter name dropped
              }
              chain fw { type filter hook forward priority filter; policy drop;
                counter name dropped
              }
              chain out { type filter hook output priority filter; policy drop;
                oifname "lo" accept
                oifname "tap0" ct state established,related accept
              }
            }
            """
                    .replace(":TCP", ":" + PrivilegedLimits.EGRESS_TCP_PORT)
                    .replace(":DNS", ":" + PrivilegedLimits.EGRESS_DNS_PORT)
                    .replace("dport TCP", "dport " + PrivilegedLimits.EGRESS_TCP_PORT)
                    .replace("dport DNS", "dport " + PrivilegedLimits.EGRESS_DNS_PORT);

    /**
     * No IPv6, no forwarding, the filter; only then is the interface up. The guest's hardware
     * address is the one that it must have, whatever it says.
     */
    private static final String PREPARE =
            "set -e; v6=/proc/sys/net/ipv6/conf;"
                    + " if [ -d $v6 ]; then echo 1 >$v6/all/disable_ipv6;"
                    + " echo 1 >$v6/default/disable_ipv6; fi;"
                    + " echo 0 >/proc/sys/net/ipv4/ip_forward; nft -f -;"
                    + " ip link set tap0 up;"
                    + " exec ip neigh replace 10.200.0.2 lladdr 02:fc:00:00:00:02 dev tap0"
                    + " nud permanent";

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
        Commands.Result _ =
                Commands.run(TIMEOUT, "", List.of("ip", "-n", namespace, "link", "del", "tap0"));
        String batch =
                "tuntap add dev tap0 mode tap user "
                        + uid
                        + " vnet_hdr\n"
                        + "link set tap0 address 02:fc:00:00:00:01\n"
                        + "addr add 10.200.0.1/30 dev tap0\n"
                        + "link set lo up\n";
        Commands.check(TIMEOUT, batch, List.of("ip", "-n", namespace, "-batch", "-"));
        Commands.check(
                TIMEOUT, FILTER, List.of("ip", "netns", "exec", namespace, "sh", "-c", PREPARE));
    }

    static void remove(String namespace) throws IOException {
        if (exists(namespace)) {
            Commands.check(TIMEOUT, "", List.of("ip", "netns", "del", namespace));
        }
    }
}
