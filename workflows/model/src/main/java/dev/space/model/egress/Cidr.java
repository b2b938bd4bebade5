package dev.space.model.egress;

/**
 * A range of IPv4 addresses.
 *
 * @param network its first address: the bits behind the prefix are zero
 * @param bits length of the prefix
 */
public record Cidr(int network, int bits) {

    public Cidr {
        if (bits < 0 || bits > 32) {
            throw new IllegalArgumentException("a prefix has 0 to 32 bits");
        }
        if ((network & ~mask(bits)) != 0) {
            throw new IllegalArgumentException(
                    "the address has bits behind its prefix; the range is "
                            + Ipv4.text(network & mask(bits))
                            + "/"
                            + bits);
        }
    }

    /**
     * A range as people write it.
     *
     * @throws IllegalArgumentException with a sentence for people
     */
    public static Cidr parse(String text) {
        int slash = text.indexOf('/');
        String bits = text.substring(slash + 1);
        boolean number =
                !bits.isEmpty()
                        && bits.length() <= 2
                        && bits.chars().allMatch(c -> c >= '0' && c <= '9');
        if (slash < 0 || !number || text.indexOf(':') >= 0) {
            throw new IllegalArgumentException(
                    "not a range such as 203.0.113.0/24; IPv6 does not leave a sandbox");
        }
        return new Cidr(Ipv4.parse(text.substring(0, slash)), Integer.parseInt(bits));
    }

    public boolean contains(int address) {
        return (address & mask(bits)) == network;
    }

    private static int mask(int bits) {
        return bits == 0 ? 0 : -1 << (32 - bits);
    }

    @Override
    public String toString() {
        return Ipv4.text(network) + "/" + bits;
    }
}
