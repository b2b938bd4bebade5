package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * One session that writes all the time and is paused and resumed, rolled back, suspended and
 * restored, and forked, again and again: nothing is lost, nothing is torn, nothing grows. {@code
 * -Dspace.cycles=25} makes a hundred of it.
 */
final class CyclesIT extends OnOnePlatform {

    private static final int ROUNDS = Integer.getInteger("space.cycles", 2);
    private static final Duration STEP_MAX = Duration.ofMinutes(3);

    /** Its numbers live in memory only; each is a line of a file and of the output. */
    private static final String WRITER =
            "i=0; while :; do i=$((i+1)); echo $i >>grows; echo $i; sleep 0.02; done";

    /** Every line of the file follows the one before it; tells the last. */
    private static final String CHECK = "awk '$1 != NR { exit 1 } END { print NR }' grows";

    /**
     * A JVM's heap grows with its first uploads, up to its limit; a leak in a hundred passes it.
     */
    private static final long RSS_GROWTH_KIB_MAX = 320 << 10;

    private static final long COUNT_GROWTH_MAX = 40;

    private long written(String session) throws IOException {
        return Long.parseLong(rest.shell(session, CHECK).strip());
    }

    private long awaitAbove(String session, long number) throws Exception {
        Await.until("it writes on", STEP_MAX, () -> written(session) > number);
        return written(session);
    }

    /** What is written just before, and not synced, is there after it. */
    private long stopAndGoOn(String session, String stop, String goOn, String mark)
            throws Exception {
        long then = written(session);
        rest.shell(session, "echo " + mark + " >>marks");
        rest.command(session, stop).demand();
        rest.command(session, goOn).demand();
        assertThat(rest.shell(session, "tail -n 1 marks")).as(stop).isEqualTo(mark + "\n");
        return awaitAbove(session, then + 2);
    }

    private void thereAndBack(String session, String mark) throws Exception {
        rest.command(session, "checkpoint").demand();
        final String good = newest(session, "CHECKPOINT");
        final long then = written(session);
        rest.shell(session, "echo " + mark + " >undone; sync");
        awaitAbove(session, then + 2);
        rest.rollback(session, good).demand();
        assertThat(rest.shell(session, "ls undone 2>/dev/null || echo gone")).isEqualTo("gone\n");
        final String safety = newest(session, "SAFETY");
        long now = awaitAbove(session, 0);
        rest.rollback(session, safety).demand();
        assertThat(rest.shell(session, "cat undone")).as("the undo undone").isEqualTo(mark + "\n");
        rest.shell(session, "rm undone");
        awaitAbove(session, now);
    }

    private void forked(String session) throws Exception {
        long then = written(session);
        JsonNode child = rest.fork(session, 1).path("children").get(0);
        assertThat(child.path("creation").asText()).as("%s", child).isEqualTo("DONE");
        String id = child.path("id").asText();
        awaitAbove(id, then);
        rest.destroy(id);
        awaitAbove(session, then + 2);
    }

    private void round(String session, String mark) throws Exception {
        stopAndGoOn(session, "pause", "resume", "paused-" + mark);
        thereAndBack(session, mark);
        stopAndGoOn(session, "suspend", "restore", "suspended-" + mark);
        forked(session);
        tidy(session);
    }

    private List<JsonNode> snapshots(String session) throws IOException {
        return rest.list("/v1/sessions/" + session + "/snapshots?limit=1000");
    }

    private String newest(String session, String reason) throws IOException {
        return snapshots(session).stream()
                .filter(s -> s.path("reason").asText().equals(reason))
                .findFirst()
                .orElseThrow()
                .path("id")
                .asText();
    }

    /** Deletes all snapshots but what the session stands on; the node's directory says the same. */
    private void tidy(String session) throws Exception {
        for (JsonNode snapshot : snapshots(session)) {
            String path = "/v1/sessions/" + session + "/snapshots/" + snapshot.path("id").asText();
            Rest.Answer answer = rest.insist("DELETE", path, null);
            if (answer.status() != 409) {
                answer.demand();
            }
        }
        Await.until(
                "the node has what is listed",
                STEP_MAX,
                () -> directories(session) == snapshots(session).size());
    }

    private long directories(String session) throws IOException {
        try (Stream<Path> volumes = Files.list(platform.data().resolve("node/volumes"))) {
            Path own =
                    volumes.map(v -> v.resolve("sessions").resolve(session).resolve("snapshots"))
                            .filter(Files::isDirectory)
                            .findFirst()
                            .orElseThrow();
            try (Stream<Path> all = Files.list(own)) {
                return all.count();
            }
        }
    }

    @Test
    void nothingIsLostTornOrLeft() throws Exception {
        Census census = new Census(platform);
        String session = rest.created();
        String writer = rest.background(session, WRITER);
        awaitAbove(session, 10);
        round(session, "warm-up");
        final Map<String, Long> before = census.figures();
        final int listed = snapshots(session).size();
        final long begun = System.nanoTime();
        for (int i = 0; i < ROUNDS; i++) {
            round(session, Integer.toString(i));
        }
        System.err.printf(
                "CyclesIT: %d rounds of five in %d s%n",
                ROUNDS, Duration.ofNanos(System.nanoTime() - begun).toSeconds());
        assertThat(rest.process(session, writer).path("state").asText())
                .as("one process all the time")
                .isEqualTo("RUNNING");
        assertThat(snapshots(session)).hasSizeLessThanOrEqualTo(listed + 1);
        Map<String, Long> after = census.figures();
        System.err.println("CyclesIT before: " + before + "\nCyclesIT after:  " + after);
        after.forEach((name, value) ->
                assertThat(value - before.getOrDefault(name, 0L))
                        .as("growth of %s from %d to %d", name, before.get(name), value)
                        .isLessThanOrEqualTo(
                                name.startsWith("rss-kib")
                                        ? RSS_GROWTH_KIB_MAX
                                        : COUNT_GROWTH_MAX));
        rest.destroy(session);
        Await.until("nothing is left", STEP_MAX, () -> census.sandboxes().isEmpty());
    }
}
