package dev.space.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Random lists of actions from seeds. A list that fails a check is made shorter for as long as it
 * still fails, by leaving out runs of elements, and is then told with its seed and the command that
 * runs it again.
 *
 * @param <A> one action; its {@code toString} is what a person reads
 */
public final class Sequences<A> {

    /** Runs a list and throws when a check fails. */
    @FunctionalInterface
    public interface Check<A> {
        void run(long seed, List<A> actions) throws Exception;
    }

    private final int longest;
    private final int shrinksMax;
    private final Function<Random, A> action;
    private final Check<A> check;

    /**
     * @param longest elements of the longest list
     * @param shrinksMax lists that are tried to make a failing one shorter
     */
    public Sequences(int longest, int shrinksMax, Function<Random, A> action, Check<A> check) {
        this.longest = longest;
        this.shrinksMax = shrinksMax;
        this.action = action;
        this.check = check;
    }

    /** The list of a seed: always the same one. */
    public List<A> of(long seed) {
        Random random = new Random(seed);
        int length = 1 + random.nextInt(longest);
        List<A> actions = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            actions.add(action.apply(random));
        }
        return List.copyOf(actions);
    }

    /**
     * Runs the list of the seed.
     *
     * @param command what runs this seed alone
     * @throws AssertionError with the seed, the shortest list that fails, and the command
     */
    public void verify(long seed, String command) {
        List<A> actions = of(seed);
        Throwable failure = failure(seed, actions);
        if (failure == null) {
            return;
        }
        Failing<A> shortest = shrink(seed, new Failing<>(actions, failure));
        throw new AssertionError(
                "seed "
                        + seed
                        + " fails: "
                        + shortest.failure().getMessage()
                        + "\n  with "
                        + shortest.actions()
                        + "\n  run it again: "
                        + command,
                shortest.failure());
    }

    private record Failing<A>(List<A> actions, Throwable failure) {}

    private Failing<A> shrink(long seed, Failing<A> from) {
        Failing<A> best = from;
        int left = shrinksMax;
        for (int size = Math.max(1, best.actions().size() / 2); size >= 1; size /= 2) {
            for (int at = 0; at + size <= best.actions().size() && left > 0; left--) {
                List<A> shorter = new ArrayList<>(best.actions());
                shorter.subList(at, at + size).clear();
                Throwable failure = failure(seed, shorter);
                if (failure == null) {
                    at += size;
                } else {
                    best = new Failing<>(List.copyOf(shorter), failure);
                }
            }
        }
        return best;
    }

    /** Null when all checks hold. */
    private @Nullable Throwable failure(long seed, List<A> actions) {
        try {
            check.run(seed, actions);
            return null;
        } catch (Exception | AssertionError e) {
            return e;
        }
    }
}
