package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.verification.Repository;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Snapshots that a node takes by itself, of real VMs and with short times. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class RollingIT {

    private static final Duration STEP_MAX = Duration.ofMinutes(3);

    /** Its numbers live in memory only, and it writes each to a file that grows. */
    private static final String COUNTER =
            "i=0; while :; do i=$((i+1)); echo $i; echo $i >>grows; sleep 0.2; done";

    /** Tells each time between two turns that is longer than half a second. */
    private static final String GAPS =
            "a=$(date +%s%N); while :; do b=$(date +%s%N); d=$(((b-a)/1000000));"
                    + " [ $d -gt 500 ] && echo $d; a=$b; done";

    @SuppressWarnings("NullAway.Init") // set before every test
    private Platform platform;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Rest rest;

    @BeforeAll
    void start() throws IOException {
        Platform.whyNot().ifPresent(why -> System.err.println("RollingIT is not run: " + why));
        assumeTrue(Platform.whyNot().isEmpty(), () -> Platform.whyNot().orElseThrow());
        platform =
                Platform.start(
                        Repository.root(),
                        4,
                        "rolling: {disk-seconds: 3, full-seconds: 9, keep: \"1s:10m\"}");
        rest = platform.rest();
    }

    @AfterAll
    void stop() throws IOException {
        if (platform != null) {
            platform.close();
        }
    }

    private List<JsonNode> snapshots(String session) throws IOException {
        return rest.list("/v1/sessions/" + session + "/snapshots");
    }

    private long count(String session, String kind) throws IOException {
        return snapshots(session).stream()
                .filter(s -> s.path("kind").asText().equals(kind))
                .count();
    }

    private void awaitMore(String session, String kind, long than) throws Exception {
        Await.until("more than " + than + " " + kind, STEP_MAX, () -> count(session, kind) > than);
    }

    private JsonNode newest(String session, String kind) throws IOException {
        return snapshots(session).stream()
                .filter(s -> s.path("kind").asText().equals(kind))
                .findFirst()
                .orElseThrow();
    }

    private long counted(String session, String process) throws IOException {
        return rest.output(session, process).lines().count();
    }

    @Test
    void whatIsRemovedIsHadBackFromADisk() throws Exception {
        String session = rest.created();
        rest.shell(session, "mkdir work && seq 1 1000 >work/file");
        awaitMore(session, "DISK", 0);
        // The one after the next was surely begun after the file was there.
        awaitMore(session, "FULL", 0);
        JsonNode first = diskAfterDone(session);
        JsonNode second = diskAfterDone(session);
        assertThat(second.path("reason").asText()).isEqualTo("ROLLING");
        assertThat(second.path("marks")).hasSize(1);
        assertThat(second.path("marks").get(0).asText()).isEqualTo("NOT_QUIESCED");
        rest.shell(session, "rm -rf work");

        // One of them may have shared its second with another snapshot, and be thinned by now.
        String there = isListed(session, first) ? id(first) : id(second);
        rest.rollback(session, there).demand();
        assertThat(rest.shell(session, "ls work; tail -n 1 work/file"))
                .isEqualTo("done\nfile\n1000\n");
        rest.destroy(session);
    }

    private JsonNode diskAfterDone(String session) throws Exception {
        rest.shell(session, "touch work/done");
        awaitMore(session, "DISK", count(session, "DISK"));
        return newest(session, "DISK");
    }

    private boolean isListed(String session, JsonNode snapshot) throws IOException {
        return snapshots(session).stream().anyMatch(s -> id(s).equals(id(snapshot)));
    }

    private static String id(JsonNode snapshot) {
        return snapshot.path("id").asText();
    }

    @Test
    void anIdleSessionHasNone() throws Exception {
        String session = rest.created();
        String busy = rest.created();
        rest.background(busy, COUNTER);
        awaitMore(busy, "FULL", 2);
        assertThat(snapshots(session)).as("nobody asked anything of it").isEmpty();
        rest.shell(session, "echo once >once");
        awaitMore(session, "DISK", 0);
        awaitMore(session, "FULL", 0);
        List<JsonNode> then = snapshots(session);
        awaitMore(busy, "FULL", count(busy, "FULL") + 3);
        assertThat(snapshots(session)).as("idle since").isEqualTo(then);
        rest.destroy(session);
        rest.destroy(busy);
    }

    @Test
    void aKilledVmGoesOnFromTheNewestCheckpoint() throws Exception {
        String session = rest.created();
        String counter = rest.background(session, COUNTER);
        awaitMore(session, "FULL", 1);
        JsonNode newest = newest(session, "FULL");
        final long then = counted(session, counter);
        Platform.killProcess(platform.vmm(session));
        Await.until(
                "it is recovered",
                STEP_MAX,
                () ->
                        rest.session(session).path("epoch").asLong() == 2
                                && rest.state(session).equals("RUNNING"));
        Await.until("the counter goes on", STEP_MAX, () -> counted(session, counter) > then + 5);
        List<String> lines = rest.output(session, counter).lines().toList();
        for (int i = 0; i < lines.size() - 1; i++) {
            assertThat(lines.get(i)).as("in memory all the time").isEqualTo("" + (i + 1));
        }
        assertThat(
                        snapshots(session).stream()
                                .filter(s -> s.path("reason").asText().equals("CRASH")))
                .as("the newer disk is kept")
                .hasSize(1);
        assertThat(snapshots(session)).anyMatch(s -> s.path("id").equals(newest.path("id")));
        rest.destroy(session);
    }

    @Test
    void aDiskSnapshotStopsNobody() throws Exception {
        String session = rest.created();
        String gaps = rest.background(session, GAPS);
        awaitMore(session, "DISK", 3);
        String told = rest.output(session, gaps);
        System.err.println("RollingIT: gaps above 500 ms: " + told.replace('\n', ' '));
        for (JsonNode snapshot : snapshots(session)) {
            assertThat(snapshot.path("reason").asText()).isEqualTo("ROLLING");
        }
        rest.destroy(session);
    }
}
