package dev.space.node.volumes;

import dev.space.node.engine.spi.GuestActivity;

/**
 * What a guest had done by the time of a snapshot, so that the next one can be left out when it has
 * done nothing since. The times of the disk's file would say less: a guest's kernel writes for a
 * minute after a start by itself, and what a process wrote is written back before each snapshot.
 *
 * @param inputMillis when the platform last asked something of the guest, by the guest's clock
 * @param cpuMicros processor time of the workload
 */
public record ChangeMark(long inputMillis, long cpuMicros) {

    /**
     * Processes that only sleep use a little time when they are frozen and thawed; less than this
     * is no work. It adds up, so that nothing stays unnoticed for ever.
     */
    private static final long CPU_NOISE_MICROS = 10_000;

    public static ChangeMark of(GuestActivity activity) {
        return new ChangeMark(activity.lastActiveUnixMillis(), activity.cpuMicros());
    }

    /** True when what the guest did after this mark may have changed its memory or its disk. */
    public boolean isBefore(ChangeMark now) {
        return now.inputMillis != inputMillis
                || now.cpuMicros < cpuMicros
                || now.cpuMicros - cpuMicros >= CPU_NOISE_MICROS;
    }

    /** The mark once the stop itself is over, which is no work of the guest's. */
    public ChangeMark afterStop(ChangeMark now) {
        long stop = Math.clamp(now.cpuMicros - cpuMicros, 0, CPU_NOISE_MICROS);
        return new ChangeMark(inputMillis, cpuMicros + stop);
    }
}
