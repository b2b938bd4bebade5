package dev.space.node.engine.spi;

/**
 * Whether the guest of a start may run: asked when all is prepared, immediately before the first
 * instruction and again before the workload thaws. What permitted the start when it began, the
 * node's lease, may be over by then, and the session may run elsewhere.
 */
@FunctionalInterface
public interface StartPermit {

    /** For what no other node could run. */
    StartPermit ALWAYS = () -> {};

    /** Throws where it may not; then nothing of the VM is left. */
    void demand();
}
