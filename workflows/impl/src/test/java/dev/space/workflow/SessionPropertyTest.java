package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.testkit.Sequences;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random lives of one session through Temporal, each from its seed: what is asked, what happens,
 * and what goes wrong with the calls. The threads' timing is not the seed's: a seed that failed may
 * pass when it is run again. {@code -Dspace.seed=N} runs one seed and makes its list shorter where
 * it fails, {@code -Dspace.seeds=N} runs that many, {@code -Dspace.seeds.from=N} later ones.
 */
final class SessionPropertyTest {

    private static final int SEEDS = Integer.getInteger("space.seeds", 48);
    private static final long FROM = Long.getLong("space.seeds.from", 0);

    /** Lives at once: each waits more than it works. */
    private static final int AT_ONCE = 4;

    private static final int ACTS_MAX = 14;
    private static final int SHRINKS_MAX = 60;

    /** A life takes a second or two; one that does not come to its end has failed. */
    private static final Duration LIFE_MAX = Duration.ofSeconds(90);

    @Test
    @Timeout(1200)
    void everyLifeKeepsThePromises() throws Exception {
        Long one = Long.getLong("space.seed");
        long[] seeds =
                one == null ? LongStream.range(FROM, FROM + SEEDS).toArray() : new long[] {one};
        Sequences<SessionLife.Act> lives =
                new Sequences<>(
                        ACTS_MAX,
                        one == null ? 0 : SHRINKS_MAX,
                        SessionLife.Act::random,
                        SessionPropertyTest::bounded);
        List<Throwable> failures = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE)) {
            List<Future<?>> running = new ArrayList<>();
            for (long seed : seeds) {
                running.add(threads.submit(() -> verify(lives, seed)));
            }
            for (Future<?> run : running) {
                try {
                    run.get();
                } catch (ExecutionException e) {
                    failures.add(e.getCause());
                }
            }
        }
        assertThat(failures).isEmpty();
    }

    /** Tells of a failure when it comes, not when the last seed has run. */
    private static void verify(Sequences<SessionLife.Act> lives, long seed) {
        try {
            lives.verify(seed, command(seed));
        } catch (AssertionError e) {
            System.err.println(e.getMessage());
            throw e;
        }
    }

    /** A life on a thread of its own, so that one that hangs is a failure like another. */
    private static void bounded(long seed, List<SessionLife.Act> acts) throws Exception {
        try (ExecutorService thread = Executors.newSingleThreadExecutor();
                SessionLife life = new SessionLife(seed)) {
            Thread[] runs = new Thread[1];
            Future<?> end =
                    thread.submit(() -> {
                        runs[0] = Thread.currentThread();
                        life.live(acts);
                        return true;
                    });
            try {
                end.get(LIFE_MAX.toMillis(), java.util.concurrent.TimeUnit.MILLISECONDS);
            } catch (ExecutionException e) {
                throw new AssertionError(e.getCause() + "\n  " + life.describe(), e.getCause());
            } catch (java.util.concurrent.TimeoutException e) {
                String at =
                        Arrays.stream(runs[0].getStackTrace())
                                .map(StackTraceElement::toString)
                                .collect(Collectors.joining("\n    at "));
                thread.shutdownNow();
                throw new AssertionError("it hangs; " + life.describe() + "\n    at " + at, e);
            }
        }
    }

    private static String command(long seed) {
        return "mvn -B -pl workflows/impl -am test -Dtest=SessionPropertyTest"
                + " -Dsurefire.failIfNoSpecifiedTests=false -Dspace.seed="
                + seed;
    }
}
