package dev.space.node.engine.spi;

/**
 * What one VM needs of the machine. A slot is used again only after it was released cleanly.
 *
 * @param number place in the engine's pool
 * @param gid group that may open the VM's files, or {@link #NO_GROUP} when the engine has no users
 */
public record Slot(int number, int gid) {

    /** The engine's VMs run as the node's own user. */
    public static final int NO_GROUP = -1;
}
