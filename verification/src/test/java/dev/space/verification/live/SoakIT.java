package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.space.verification.Repository;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;

/**
 * A hundred sessions, ten at a time, each created, used and destroyed. All must succeed, and what
 * the platform holds afterwards must be what it held after the warm-up.
 */
final class SoakIT {

    private static final int SESSIONS = 100;
    private static final int WARM_UP = 20;
    private static final int AT_ONCE = 10;
    private static final Duration REST_MAX = Duration.ofMinutes(2);
    private static final Duration STORED_MAX = Duration.ofMinutes(5);

    /** Room for caches and garbage that no collection has looked at yet; a leak passes it. */
    private static final long RSS_GROWTH_KIB_MAX = 96 << 10;

    /** Connections and threads of pools come and go with the load. */
    private static final long COUNT_GROWTH_MAX = 40;

    private static final long RECORDS_GROWTH_MAX = 64;

    @Test
    void aHundredSessionsLeaveNothing() throws Exception {
        Platform.whyNot().ifPresent(why -> System.err.println("SoakIT is not run: " + why));
        assumeTrue(Platform.whyNot().isEmpty(), () -> Platform.whyNot().orElseThrow());
        try (Platform platform = Platform.start(Repository.root(), AT_ONCE + 2)) {
            Rest rest = platform.rest();
            Census census = new Census(platform);
            assertThat(live(rest, WARM_UP)).as("failures of the warm-up").isEmpty();
            atRest(census);
            // What is done once for each platform, with buffers of its own, is no growth.
            Path log = platform.data().resolve("log/node-worker.log");
            Await.until(
                    "the node's template is in the object store",
                    STORED_MAX,
                    () -> Files.readString(log).contains(" stored in "));
            Map<String, Long> before = census.figures();
            assertThat(live(rest, SESSIONS)).as("failures").isEmpty();
            atRest(census);
            Map<String, Long> after = census.figures();
            System.err.println("SoakIT before: " + before + "\nSoakIT after:  " + after);
            after.forEach((name, value) ->
                    assertThat(value - before.getOrDefault(name, 0L))
                            .as("growth of %s from %d to %d", name, before.get(name), value)
                            .isLessThanOrEqualTo(growthMax(name)));
        }
    }

    private static long growthMax(String name) {
        if (name.startsWith("rss-kib")) {
            return RSS_GROWTH_KIB_MAX;
        }
        if (name.equals("exit-records")) {
            return RECORDS_GROWTH_MAX;
        }
        return name.contains(" ") ? COUNT_GROWTH_MAX : 2;
    }

    private static void atRest(Census census) throws Exception {
        Await.until("no sandbox is left", REST_MAX, () -> census.sandboxes().isEmpty());
    }

    /** Lives so many sessions and answers what went wrong. */
    private static List<String> live(Rest rest, int sessions) throws Exception {
        Semaphore room = new Semaphore(AT_ONCE);
        List<Future<?>> all = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < sessions; i++) {
                room.acquire();
                String word = "session-" + i;
                all.add(
                        threads.submit(() -> {
                            try {
                                String session = rest.created();
                                assertThat(rest.shell(session, "echo " + word))
                                        .isEqualTo(word + "\n");
                                rest.destroy(session);
                                return session;
                            } finally {
                                room.release();
                            }
                        }));
            }
        }
        return all.stream()
                .filter(f -> f.state() == Future.State.FAILED)
                .map(f -> String.valueOf(f.exceptionNow()))
                .toList();
    }
}
