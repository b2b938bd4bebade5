package dev.space.model;

import java.util.Comparator;

/**
 * The order in which a session's commands count. A receiver persists the highest fence it has seen
 * for a session and refuses anything lower without touching the VM.
 *
 * @param epoch number of the session's sandbox; every VM start takes a new one. From PostgreSQL.
 * @param number number of the operation, given when it was accepted. From PostgreSQL.
 * @param attempt grows through the whole operation, undo steps included: {@link #attempt(int, int)}
 */
public record Fence(long epoch, long number, long attempt) implements Comparable<Fence> {

    /** Attempts of one step that keep their own place in the order. */
    public static final int STEP_ATTEMPTS_MAX = 100_000;

    private static final Comparator<Fence> ORDER =
            Comparator.comparingLong(Fence::epoch)
                    .thenComparingLong(Fence::number)
                    .thenComparingLong(Fence::attempt);

    public Fence {
        if (epoch < 0 || number < 0 || attempt < 0) {
            throw new IllegalArgumentException("a fence has no negative part");
        }
    }

    /**
     * Combines a step's place in its operation with the attempt of the activity, which Temporal
     * restarts at 1 for every activity.
     */
    public static long attempt(int step, int activityAttempt) {
        return (long) step * STEP_ATTEMPTS_MAX + Math.min(activityAttempt, STEP_ATTEMPTS_MAX - 1);
    }

    /**
     * True when this fence is lower than what was already seen, so that the call must be refused.
     */
    public boolean isStaleAgainst(Fence highestSeen) {
        return compareTo(highestSeen) < 0;
    }

    @Override
    public int compareTo(Fence other) {
        return ORDER.compare(this, other);
    }
}
