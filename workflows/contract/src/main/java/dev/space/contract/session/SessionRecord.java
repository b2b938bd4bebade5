package dev.space.contract.session;

import dev.space.model.Fence;
import dev.space.model.SessionState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All that a session's workflow knows: its only state, replaced as a whole by {@code with…} copies
 * and handed over by continue-as-new. The query answers it.
 *
 * @param epoch the session's current epoch as the row last answered it
 * @param number number of the last accepted operation
 * @param node where the session's sandbox or its newest snapshot is
 * @param nodes every node that a start was ever sent to; DESTROY fences all of them
 * @param nodeAway the node's lease is lost
 * @param vm the start that made the VM that runs; null when none does
 * @param newest newest snapshot of kind FULL, or what PAUSED stands on; null when there is none
 * @param preserved disk of the last dead VM, where it could be reached
 * @param recoveries Unix times in milliseconds of the automatic recoveries inside the window
 * @param ended the last operations that ended, newest last, so that a command that is sent again
 *     after continue-as-new is recognised
 */
public record SessionRecord(
        SessionState state,
        long epoch,
        long number,
        @Nullable String node,
        List<String> nodes,
        boolean nodeAway,
        @Nullable Fence vm,
        @Nullable SnapshotRef newest,
        @Nullable SnapshotRef preserved,
        @Nullable DeadlinePolicy deadline,
        List<Long> recoveries,
        @Nullable InFlight inFlight,
        Reason reason,
        List<CommandAnswer> ended) {}
