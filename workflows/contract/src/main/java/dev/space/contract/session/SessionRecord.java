package dev.space.contract.session;

import dev.space.model.Durability;
import dev.space.model.Fence;
import dev.space.model.SessionState;
import java.util.List;
import java.util.stream.Stream;
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
 * @param newest newest snapshot of kind FULL since the last rollback, else what that went to, or
 *     what PAUSED stands on; null when there is none
 * @param preserved disk of the last dead VM, where it could be reached
 * @param durable newest snapshot of the present that the object store holds whole; null without one
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
        @Nullable DurableRef durable,
        @Nullable DeadlinePolicy deadline,
        List<Long> recoveries,
        @Nullable InFlight inFlight,
        Reason reason,
        List<CommandAnswer> ended) {

    /** Ended operations that are remembered: more than can be sent again at once. */
    public static final int ENDED_MAX = 32;

    /** Automatic recoveries that are remembered when the session is read from its rows. */
    public static final int RECOVERIES_MAX = 100;

    public SessionRecord {
        nodes = List.copyOf(nodes);
        recoveries = List.copyOf(recoveries);
        ended = List.copyOf(ended);
    }

    /** A session that has a row and nothing else. */
    public static SessionRecord fresh(@Nullable DeadlinePolicy deadline, Reason reason) {
        return new SessionRecord(
                SessionState.NEW,
                0,
                0,
                null,
                List.of(),
                false,
                null,
                null,
                null,
                null,
                deadline,
                List.of(),
                null,
                reason,
                List.of());
    }

    /** What a loss of the node would leave. */
    public Durability durability() {
        if (durable != null) {
            return Durability.DURABLE;
        }
        return newest == null && preserved == null ? Durability.NONE : Durability.LOCAL;
    }

    /** The session stands on a snapshot that the object store holds whole. */
    public boolean standsOnDurable() {
        return newest != null && durable != null && durable.snapshot().id().equals(newest.id());
    }

    public SessionRecord withState(SessionState next, @Nullable Fence nextVm, Reason why) {
        return new SessionRecord(
                next,
                epoch,
                number,
                node,
                nodes,
                nodeAway,
                nextVm,
                newest,
                preserved,
                durable,
                deadline,
                recoveries,
                inFlight,
                why,
                ended);
    }

    /** After acceptance: the row's epoch and number. */
    public SessionRecord withInFlight(InFlight next) {
        return new SessionRecord(
                state,
                next.epoch(),
                next.number(),
                node,
                nodes,
                nodeAway,
                vm,
                newest,
                preserved,
                durable,
                deadline,
                recoveries,
                next,
                reason,
                ended);
    }

    public SessionRecord withoutInFlight() {
        return new SessionRecord(
                state,
                epoch,
                number,
                node,
                nodes,
                nodeAway,
                vm,
                newest,
                preserved,
                durable,
                deadline,
                recoveries,
                null,
                reason,
                ended);
    }

    /** The node that the next start is sent to, written down for DESTROY. */
    public SessionRecord withNode(String next) {
        List<String> all =
                nodes.contains(next)
                        ? nodes
                        : Stream.concat(nodes.stream(), Stream.of(next)).toList();
        return new SessionRecord(
                state,
                epoch,
                number,
                next,
                all,
                false,
                vm,
                newest,
                preserved,
                durable,
                deadline,
                recoveries,
                inFlight,
                reason,
                ended);
    }

    /** The node was declared lost: what it held is no more, but it stays written down. */
    public SessionRecord withNodeLost() {
        return new SessionRecord(
                state,
                epoch,
                number,
                null,
                nodes,
                false,
                null,
                null,
                null,
                durable,
                deadline,
                recoveries,
                inFlight,
                reason,
                ended);
    }

    /** SUSPENDED: it is on no node; what the object store has is where it goes on from. */
    public SessionRecord withoutNode() {
        return new SessionRecord(
                state,
                epoch,
                number,
                null,
                nodes,
                false,
                null,
                durable == null ? newest : durable.snapshot(),
                preserved,
                durable,
                deadline,
                recoveries,
                inFlight,
                reason,
                ended);
    }

    /** The object store holds this whole. */
    public SessionRecord withDurable(DurableRef stored) {
        return new SessionRecord(
                state,
                epoch,
                number,
                node,
                nodes,
                nodeAway,
                vm,
                newest,
                preserved,
                stored,
                deadline,
                recoveries,
                inFlight,
                reason,
                ended);
    }

    public SessionRecord withNodeAway(boolean away) {
        return new SessionRecord(
                state,
                epoch,
                number,
                node,
                nodes,
                away,
                vm,
                newest,
                preserved,
                durable,
                deadline,
                recoveries,
                inFlight,
                reason,
                ended);
    }

    /** Keeps the newest by (epoch, stop). */
    public SessionRecord withSnapshot(SnapshotRef taken) {
        SnapshotRef next = newest != null && newest.newerThan(taken) ? newest : taken;
        return new SessionRecord(
                state,
                epoch,
                number,
                node,
                nodes,
                nodeAway,
                vm,
                next,
                preserved,
                durable,
                deadline,
                recoveries,
                inFlight,
                reason,
                ended);
    }

    public SessionRecord withPreserved(SnapshotRef disk) {
        return new SessionRecord(
                state,
                epoch,
                number,
                node,
                nodes,
                nodeAway,
                vm,
                newest,
                disk,
                durable,
                deadline,
                recoveries,
                inFlight,
                reason,
                ended);
    }

    public SessionRecord withDeadline(@Nullable DeadlinePolicy next) {
        return new SessionRecord(
                state,
                epoch,
                number,
                node,
                nodes,
                nodeAway,
                vm,
                newest,
                preserved,
                durable,
                next,
                recoveries,
                inFlight,
                reason,
                ended);
    }

    /**
     * The present goes on from this snapshot: what is newer belongs to a past that was left, and a
     * recovery must not lead back into it.
     */
    public SessionRecord rolledBackTo(SnapshotRef target) {
        return new SessionRecord(
                state,
                epoch,
                number,
                node,
                nodes,
                nodeAway,
                vm,
                target,
                null,
                stillPresent(target),
                deadline,
                recoveries,
                inFlight,
                reason,
                ended);
    }

    /** What was stored of a past that was left is no way back into the present. */
    private @Nullable DurableRef stillPresent(SnapshotRef target) {
        return durable != null && durable.snapshot().id().equals(target.id()) ? durable : null;
    }

    public SessionRecord withRecoveries(List<Long> next) {
        return new SessionRecord(
                state, epoch, number, node, nodes, nodeAway, vm, newest, preserved, durable,
                deadline, next, inFlight, reason, ended);
    }

    public SessionRecord withEnded(CommandAnswer answer) {
        List<CommandAnswer> all = Stream.concat(ended.stream(), Stream.of(answer)).toList();
        return new SessionRecord(
                state,
                epoch,
                number,
                node,
                nodes,
                nodeAway,
                vm,
                newest,
                preserved,
                durable,
                deadline,
                recoveries,
                inFlight,
                reason,
                all.subList(Math.max(0, all.size() - ENDED_MAX), all.size()));
    }
}
