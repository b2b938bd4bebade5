package dev.space.testkit;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Decides what goes wrong with a call. Scripted faults (by step name) come first; after them the
 * seed decides, with a bounded number of faults so that every run comes to an end.
 */
public final class Faults {

    /** What can happen to one call. */
    public enum Fault {
        NONE,
        /** It answers no, without an effect. */
        REFUSED,
        /** As REFUSED, for want of disk space; only by a script. */
        NO_SPACE,
        /** It never arrives, and nobody answers. */
        CALL_LOST,
        /** It has its effect, and nobody answers. */
        ANSWER_LOST,
        /** It arrives twice; the second answer counts. */
        DOUBLED,
        /** Nobody answers, and it arrives after a later call did. */
        LATE,
        /** It is held until its caller gave up, and then arrives; only by a script. */
        HANGS
    }

    private static final List<Fault> DRAWN =
            List.of(Fault.REFUSED, Fault.CALL_LOST, Fault.ANSWER_LOST, Fault.DOUBLED, Fault.LATE);

    private final Map<String, Deque<Fault>> scripted = new HashMap<>();
    private final List<Call> log = new java.util.ArrayList<>();
    private final Random random;
    private int left;

    /** One call that was made: where, what, and what happened to it. */
    public record Call(String at, String step, Fault fault) {}

    private Faults(long seed, int budget) {
        this.random = new Random(seed);
        this.left = budget;
    }

    public static Faults none() {
        return new Faults(0, 0);
    }

    /** At most {@code budget} faults, drawn from the seed. */
    public static Faults seeded(long seed, int budget) {
        return new Faults(seed, budget);
    }

    /** The next calls of this step meet these faults, in this order. */
    public synchronized void script(String step, Fault... faults) {
        scripted.computeIfAbsent(step, _ -> new ArrayDeque<>()).addAll(List.of(faults));
    }

    /** Asked by a fake at each call. */
    public synchronized Fault next(String at, String step) {
        Fault fault = draw(step);
        log.add(new Call(at, step, fault));
        return fault;
    }

    /** Every call so far, oldest first. */
    public synchronized List<Call> calls() {
        return List.copyOf(log);
    }

    public synchronized long count(String step) {
        return log.stream().filter(c -> c.step().equals(step)).count();
    }

    /** From now on nothing goes wrong but what is scripted after this. */
    public synchronized void calm() {
        left = 0;
        scripted.clear();
    }

    private Fault draw(String step) {
        Deque<Fault> script = scripted.get(step);
        if (script != null && !script.isEmpty()) {
            return script.remove();
        }
        if (left > 0 && random.nextInt(4) == 0) {
            left--;
            return DRAWN.get(random.nextInt(DRAWN.size()));
        }
        return Fault.NONE;
    }
}
