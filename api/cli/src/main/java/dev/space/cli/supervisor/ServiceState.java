package dev.space.cli.supervisor;

/** What {@code status} shows of one service. */
public record ServiceState(
        String name, Phase phase, long pid, int restarts, String since, String detail) {

    /** Where a service stands. */
    public enum Phase {
        WAITING,
        STARTING,
        READY,
        BACKOFF,
        STOPPING,
        STOPPED
    }
}
