package dev.space.node.engine.spi;

import java.util.Set;

/**
 * The published capabilities of an engine; placement and callers decide by these, never by name.
 *
 * @param name name of the engine
 * @param bundleDigest engine bundle that new sandboxes use; empty when the engine needs none
 * @param accelerator {@code tcg}, {@code kvm} or {@code none}
 * @param memorySnapshot whether device state can be saved and loaded
 * @param vmgenid whether the guest kernel learns of a restore by itself
 * @param features further words that callers may look for
 * @param slots VMs that can run at once
 */
public record EngineInfo(
        String name,
        String bundleDigest,
        String accelerator,
        boolean memorySnapshot,
        boolean vmgenid,
        Set<String> features,
        int slots) {

    public EngineInfo {
        features = Set.copyOf(features);
    }
}
