package dev.space.node.pool;

import dev.space.model.Size;
import java.util.List;

/**
 * What is kept ready.
 *
 * @param starts the templates and sizes that it is kept of
 * @param hot hot VMs of each, or {@link #BY_DEMAND}
 * @param prepared VMMs that wait for a snapshot, of each engine bundle and size
 * @param memoryBytes most memory for all of them
 * @param slotsSpare slots that are left for sessions
 */
public record PoolSettings(
        List<Start> starts, int hot, int prepared, long memoryBytes, int slotsSpare) {

    /** In place of a number of hot VMs: as many as the demand asks for. */
    public static final int BY_DEMAND = -1;

    public PoolSettings {
        starts = List.copyOf(starts);
    }

    boolean followsDemand() {
        return hot == BY_DEMAND;
    }

    /** By its name, so that what is published under it later is kept instead. */
    public record Start(String template, Size size) {}
}
