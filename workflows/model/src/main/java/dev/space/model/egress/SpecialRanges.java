package dev.space.model.egress;

import java.util.List;
import java.util.stream.Stream;

/** Addresses that are not the Internet's. */
public final class SpecialRanges {

    /**
     * What no sandbox reaches, whatever its policy says: this network, link-local with the clouds'
     * metadata, synthetic addresses, multicast, reserved.
     */
    public static final List<Cidr> NEVER =
            ranges(
                    "0.0.0.0/8",
                    "169.254.0.0/16",
                    "198.18.0.0/15",
                    "224.0.0.0/4",
                    "240.0.0.0/4",
                    // Metadata services outside link-local: Alibaba, Oracle, Azure.
                    "100.100.100.200/32",
                    "192.0.0.192/32",
                    "168.63.129.16/32");

    /** What a rule must mean on purpose: private networks, carriers' own, loopback. */
    public static final List<Cidr> PRIVATE =
            ranges(
                    "10.0.0.0/8",
                    "100.64.0.0/10",
                    "127.0.0.0/8",
                    "172.16.0.0/12",
                    "192.0.0.0/24",
                    "192.168.0.0/16");

    /** This machine itself. */
    public static final Cidr LOOPBACK = Cidr.parse("127.0.0.0/8");

    /** From here each name gets its address in a session. */
    public static final Cidr SYNTHETIC = Cidr.parse("198.18.0.0/15");

    private SpecialRanges() {}

    public static boolean contain(List<Cidr> ranges, int address) {
        return ranges.stream().anyMatch(r -> r.contains(address));
    }

    /** Whether a rule for this range means private addresses on purpose. */
    static boolean isPrivate(Cidr range) {
        return PRIVATE.stream()
                .anyMatch(p -> p.bits() <= range.bits() && p.contains(range.network()));
    }

    private static List<Cidr> ranges(String... texts) {
        return Stream.of(texts).map(Cidr::parse).toList();
    }
}
