package dev.space.node.engine.spi;

/**
 * How a VM ended.
 *
 * @param exitCode exit code of the VMM, or -1 when it did not end by itself
 * @param signal signal that ended the VMM, or 0
 */
public record VmExit(Reason reason, int exitCode, int signal, String detail) {

    /** Why; the names are those of the report. */
    public enum Reason {
        SHUTDOWN,
        PANIC,
        OUT_OF_MEMORY,
        KILLED,
        ERROR,
        FENCED
    }
}
