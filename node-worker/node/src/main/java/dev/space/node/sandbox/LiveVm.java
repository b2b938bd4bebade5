package dev.space.node.sandbox;

import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.SnapshotId;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.engine.spi.VmRecord;
import org.jspecify.annotations.Nullable;

/**
 * The journal's word on the VM of a session.
 *
 * @param start fence of the start that made it; reports name it
 * @param operation operation that made it
 * @param template digest of the template its disk grew from
 * @param stops stops of this VM so far; "newest" snapshot means highest (epoch, stop)
 * @param stop the stop under way, in phase {@code STOPPING} only
 * @param exit how it ended, in phase {@code DEAD} only
 * @param startedMillis Unix time before its files were made; 0 in a journal of an older release
 */
record LiveVm(
        Fence start,
        OperationId operation,
        VmRecord vm,
        String template,
        Phase phase,
        long stops,
        @Nullable Stop stop,
        @Nullable VmExit exit,
        long startedMillis) {

    /** Where the VM is in its life. */
    enum Phase {
        /** May run, but was never handed over: ended at a restart. */
        STARTING,
        RUNNING,
        /** Stopped by a snapshot, or about to be: {@link Stop} says by whom and what follows. */
        STOPPING,
        /** Being ended on purpose: a restart finishes that and reports nothing. */
        ENDING,
        /** Gone by itself; its disk is kept for recovery. */
        DEAD
    }

    /**
     * Who stopped the VM and why.
     *
     * @param ends true when the VM must never run again once the snapshot is published
     */
    record Stop(OperationId operation, SnapshotId snapshot, boolean ends) {}

    static LiveVm starting(
            Fence start, OperationId operation, VmRecord vm, String template, long nowMillis) {
        return new LiveVm(start, operation, vm, template, Phase.STARTING, 0, null, null, nowMillis);
    }

    /** A snapshot of its disk while it runs: no stop, but a place in their order. */
    LiveVm counted() {
        return with(phase, stops + 1, stop, exit);
    }

    LiveVm running() {
        return with(Phase.RUNNING, stops, null, null);
    }

    LiveVm stopping(Stop why) {
        return with(Phase.STOPPING, stops + 1, why, null);
    }

    LiveVm ending() {
        return with(Phase.ENDING, stops, null, null);
    }

    LiveVm dead(VmExit how) {
        return with(Phase.DEAD, stops, null, how);
    }

    private LiveVm with(Phase next, long count, @Nullable Stop why, @Nullable VmExit how) {
        return new LiveVm(start, operation, vm, template, next, count, why, how, startedMillis);
    }
}
