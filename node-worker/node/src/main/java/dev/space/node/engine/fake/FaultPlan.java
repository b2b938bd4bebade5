package dev.space.node.engine.fake;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.Pause;
import java.time.Duration;
import java.util.Random;
import java.util.function.Supplier;

/**
 * Decides by a seed which calls of the engine are delayed, done twice, lost before they have an
 * effect, or lost on the way back.
 */
public final class FaultPlan {

    /** Nothing goes wrong. */
    public static final FaultPlan NONE = new FaultPlan(0, 0, Duration.ZERO);

    private final Random random;
    private final int percent;
    private final Duration delayMax;

    /**
     * @param percent share of calls that something happens to, 0 to 100
     * @param delayMax longest delay of a call
     */
    public FaultPlan(long seed, int percent, Duration delayMax) {
        this.random = new Random(seed);
        this.percent = percent;
        this.delayMax = delayMax;
    }

    private enum Fault {
        NONE,
        DELAY,
        DOUBLE,
        LOSE_CALL,
        LOSE_ANSWER
    }

    /** Makes a call that may be repeated, with whatever the plan holds for it. */
    <T> T call(String name, Supplier<T> body) {
        Fault fault = next();
        if (fault == Fault.LOSE_CALL) {
            throw lost(name + ": the call was lost");
        }
        if (fault == Fault.DELAY) {
            sleep(nextDelay());
        }
        T answer = body.get();
        if (fault == Fault.LOSE_ANSWER) {
            throw lost(name + ": the answer was lost");
        }
        return fault == Fault.DOUBLE ? body.get() : answer;
    }

    private synchronized Fault next() {
        if (random.nextInt(100) >= percent) {
            return Fault.NONE;
        }
        Fault[] all = Fault.values();
        return all[1 + random.nextInt(all.length - 1)];
    }

    private synchronized Duration nextDelay() {
        return Duration.ofMillis(random.nextLong(delayMax.toMillis() + 1));
    }

    private static SpaceException lost(String detail) {
        return new SpaceException(ErrorCode.ENGINE_FAILED, detail);
    }

    private static void sleep(Duration time) {
        try {
            Pause.of(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
