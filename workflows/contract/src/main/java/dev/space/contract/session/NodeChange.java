package dev.space.contract.session;

/**
 * The session's node was cut off, came back or was given up.
 *
 * @param node ignored unless it is the session's node
 */
public record NodeChange(String node, Kind kind) {

    /** What happened to the node. */
    public enum Kind {
        LEASE_LOST,
        /** By an operator, who vouches that its VMs are stopped. */
        DECLARED_LOST,
        BACK
    }
}
