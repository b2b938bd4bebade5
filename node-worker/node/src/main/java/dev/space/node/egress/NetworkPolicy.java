package dev.space.node.egress;

/**
 * What a session may reach, as the control plane has it.
 *
 * @param version grows with each change; 0 when there never was one
 * @param json empty: nothing
 */
public record NetworkPolicy(long version, String json) {

    public static final NetworkPolicy NONE = new NetworkPolicy(0, "");

    public boolean isNone() {
        return json.isEmpty();
    }
}
