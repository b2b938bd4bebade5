package dev.space.contract.node;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A sandbox runs and has thawed, which is the point of no return of its operation.
 *
 * @param engine name of the engine, for instance {@code qemu}
 * @param rung how it was made: {@code hot}, {@code prepared}, {@code cold} or {@code boot}
 * @param memoryLost true when only the disk could be used although memory was asked for
 * @param phaseMicros time of each phase in microseconds, by name
 * @param attempt attempt of the start that made this VM; an attempt that finds it running answers
 *     the earlier one's, because reports of its exit carry that
 */
public record SandboxStarted(
        String engine,
        String rung,
        boolean memoryLost,
        Map<String, Long> phaseMicros,
        long attempt,
        @Nullable SnapshotTaken source) {

    /** A start from the source that was asked for. */
    public SandboxStarted(
            String engine,
            String rung,
            boolean memoryLost,
            Map<String, Long> phaseMicros,
            long attempt) {
        this(engine, rung, memoryLost, phaseMicros, attempt, null);
    }
}
