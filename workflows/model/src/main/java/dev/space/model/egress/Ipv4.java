package dev.space.model.egress;

/** IPv4 addresses as numbers. Only the plain form of four decimal numbers is read. */
public final class Ipv4 {

    private Ipv4() {}

    /**
     * An address as people write it.
     *
     * @throws IllegalArgumentException with a sentence for people
     */
    public static int parse(String text) {
        String[] parts = text.length() > 15 ? new String[0] : text.split("\\.", -1);
        if (parts.length != 4) {
            throw new IllegalArgumentException("not an IPv4 address such as 203.0.113.7");
        }
        int address = 0;
        for (String part : parts) {
            address = address << 8 | octet(part);
        }
        return address;
    }

    /** No leading zero: some software reads octal there. */
    private static int octet(String part) {
        boolean digits = part.chars().allMatch(c -> c >= '0' && c <= '9');
        if (part.isEmpty()
                || part.length() > 3
                || !digits
                || (part.startsWith("0") && part.length() > 1)) {
            throw new IllegalArgumentException("not an IPv4 address such as 203.0.113.7");
        }
        int value = Integer.parseInt(part);
        if (value > 255) {
            throw new IllegalArgumentException("not an IPv4 address such as 203.0.113.7");
        }
        return value;
    }

    public static String text(int address) {
        return (address >>> 24)
                + "."
                + (address >>> 16 & 255)
                + "."
                + (address >>> 8 & 255)
                + "."
                + (address & 255);
    }
}
