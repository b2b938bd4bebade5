package dev.space.node.pool;

import dev.space.model.Size;
import java.util.List;

/**
 * What is kept ready.
 *
 * @param starts the templates and sizes that it is kept of
 * @param hot hot VMs of each
 * @param prepared VMMs that wait for a snapshot, of each engine bundle and size
 * @param memoryBytes most memory for all of them
 * @param slotsSpare slots that are left for sessions
 */
public record PoolSettings(
        List<Start> starts, int hot, int prepared, long memoryBytes, int slotsSpare) {

    public PoolSettings {
        starts = List.copyOf(starts);
    }

    /** By its name, so that what is published under it later is kept instead. */
    public record Start(String template, Size size) {}
}
