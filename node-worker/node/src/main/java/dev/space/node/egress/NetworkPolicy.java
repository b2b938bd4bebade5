package dev.space.node.egress;

import java.util.Objects;

/**
 * What a session may reach, as the control plane has it.
 *
 * @param version grows with each change; 0 when there never was one
 * @param json empty: nothing
 * @param grants credentials with their secrets sealed, which this process cannot open; empty: none
 */
public record NetworkPolicy(long version, String json, String grants) {

    public static final NetworkPolicy NONE = new NetworkPolicy(0, "");

    public NetworkPolicy {
        // A file that an older release wrote has none.
        grants = Objects.requireNonNullElse(grants, "");
    }

    /** Without credentials. */
    public NetworkPolicy(long version, String json) {
        this(version, json, "");
    }

    /** Says how much there is: what is sealed belongs in no log either. */
    @Override
    public String toString() {
        return "NetworkPolicy(version "
                + version
                + ", "
                + json
                + ", grants of "
                + grants.length()
                + " characters)";
    }

    public boolean isNone() {
        return json.isEmpty();
    }
}
