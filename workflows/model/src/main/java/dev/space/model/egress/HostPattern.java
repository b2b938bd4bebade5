package dev.space.model.egress;

/**
 * One host, or every host below one.
 *
 * @param name in the form of {@link HostName}
 * @param below names below it match, and the name itself does not
 */
public record HostPattern(String name, boolean below) {

    private static final String BELOW = "*.";

    /**
     * A pattern as people write it.
     *
     * @throws IllegalArgumentException with a sentence for people
     */
    public static HostPattern of(String text) {
        boolean below = text.startsWith(BELOW);
        String rest = below ? text.substring(BELOW.length()) : text;
        if (rest.indexOf('*') >= 0) {
            throw new IllegalArgumentException(
                    "a star stands at the beginning only, before a dot: *.example.com");
        }
        return new HostPattern(HostName.of(rest), below);
    }

    /** Whether a name in the form of {@link HostName} is meant. */
    public boolean matches(String host) {
        return below
                ? host.length() > name.length() + 1 && host.endsWith("." + name)
                : host.equals(name);
    }

    @Override
    public String toString() {
        return below ? BELOW + name : name;
    }
}
