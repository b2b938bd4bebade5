package dev.space.node.engine.spi;

/**
 * State of a process.
 *
 * @param running false when it has ended; then exit code, signal and reason count
 * @param reason EXITED, SIGNALED, OUT_OF_MEMORY, TIMED_OUT, NOT_FOUND, START_FAILED or LOST
 * @param stdoutBytes offset of the end of what it wrote
 */
public record GuestProcess(
        String id,
        int pid,
        boolean running,
        int exitCode,
        int signal,
        String reason,
        String detail,
        long startedUnixMillis,
        long endedUnixMillis,
        long stdoutBytes,
        long stderrBytes) {}
