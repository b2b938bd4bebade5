package dev.space.privileged;

/**
 * How one VMM ended.
 *
 * @param value exit code or signal number, 0 for the other states
 * @param oomKills kills by the kernel for lack of memory in the cgroup of the slot's newest start
 * @param message the first bytes of what the VMM wrote to stderr; untrusted text
 */
public record VmmExit(State state, int value, long oomKills, String message) {

    /** What is known of the end. */
    public enum State {
        /** It has not ended. */
        RUNNING,
        /** It ended with an exit code. */
        EXITED,
        /** A signal ended it. */
        SIGNALED,
        /** It is gone and left no record: its parent was killed, or the machine stopped. */
        UNKNOWN
    }
}
