package dev.space.durable;

import java.util.List;

/**
 * Outcome of a check.
 *
 * @param packs packs that were read
 * @param chunks chunks that were read
 * @param bytes bytes read from the store
 * @param faults every fault in words that name pack, chunk and file; empty when all is well
 */
public record Verification(int packs, long chunks, long bytes, List<String> faults) {

    public Verification {
        faults = List.copyOf(faults);
    }

    public boolean isGood() {
        return faults.isEmpty();
    }
}
