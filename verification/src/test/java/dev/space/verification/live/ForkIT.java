package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.model.Size;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Forks of real VMs: the same process goes on in each, and from the fork on nothing is shared. */
final class ForkIT extends OnOnePlatform {

    private static final Duration STEP_MAX = Duration.ofMinutes(3);
    private static final int CHILDREN = 3;

    /** Of the size that the tests' platform has. */
    private static final long MEMORY_BYTES =
            (long) Size.fromWireName(Platform.SIZE).orElseThrow().memoryMiB() << 20;

    /** How far a child's clock may be from the host's, and how long asking for it may take. */
    private static final long CLOCK_MILLIS_MAX = 500;

    /** Its number lives in memory only; beside each it draws eight random bytes. */
    private static final String COUNTER =
            "i=0; while :; do i=$((i+1));"
                    + " echo $i $(head -c 8 /dev/urandom | base64); sleep 0.2; done";

    /** Lines that each must have after the fork. */
    private static final int LINES_AFTER = 4;

    @Test
    void eachChildGoesOnByItselfAndNoImageIsCopied() throws Exception {
        String source = rest.created();
        rest.shell(source, "echo shared >file");
        String counter = rest.background(source, COUNTER);
        Await.until("the counter runs", STEP_MAX, () -> lines(source, counter).size() > 3);

        JsonNode fork = rest.fork(source, CHILDREN);
        List<String> all = new ArrayList<>(List.of(source));
        for (JsonNode child : fork.path("children")) {
            assertThat(child.path("state").asText()).as("%s", fork).isEqualTo("RUNNING");
            all.add(child.path("id").asText());
        }
        assertThat(all).hasSize(1 + CHILDREN);
        for (String child : all.subList(1, all.size())) {
            clockIsRight(child);
            long own = exclusiveBytes(child);
            System.err.printf("exclusive bytes of a child: %d KiB%n", own >> 10);
            assertThat(own).as("a child's own bytes").isLessThan(MEMORY_BYTES / 20);
        }
        eachDrewItsOwn(all, counter);
        identitiesDiffer(all);
        filesAreTheirOwn(all);
        rest.destroy(source);
        for (String child : all.subList(1, all.size())) {
            assertThat(rest.shell(child, "cat file; echo $FORKED")).isEqualTo("shared\nyes\n");
            rest.destroy(child);
        }
    }

    @Test
    void aPausedSessionAndAnOldSnapshotAreForkedToo() throws Exception {
        String source = rest.created();
        rest.shell(source, "echo first >file");
        rest.command(source, "checkpoint").demand();
        String first =
                rest.list("/v1/sessions/" + source + "/snapshots").getFirst().path("id").asText();
        rest.shell(source, "echo second >file");
        rest.command(source, "pause").demand();

        String now = onlyChild(rest.fork(source, 1));
        String then = onlyChild(rest.fork(source, 1, first));
        assertThat(rest.shell(now, "cat file")).isEqualTo("second\n");
        assertThat(rest.shell(then, "cat file")).isEqualTo("first\n");
        assertThat(rest.state(source)).isEqualTo("PAUSED");
        for (String session : List.of(now, then, source)) {
            rest.destroy(session);
        }
    }

    private static String onlyChild(JsonNode fork) {
        assertThat(fork.path("children")).as("%s", fork).hasSize(1);
        assertThat(fork.path("children").get(0).path("state").asText())
                .as("%s", fork)
                .isEqualTo("RUNNING");
        return fork.path("children").get(0).path("id").asText();
    }

    /** What the counter wrote: the last line may still be written, each number is there once. */
    private List<String> lines(String session, String process) throws IOException {
        List<String> lines = rest.output(session, process).lines().toList();
        for (int i = 0; i < lines.size() - 1; i++) {
            assertThat(lines.get(i)).startsWith((i + 1) + " ");
        }
        return lines.subList(0, Math.max(0, lines.size() - 1));
    }

    /**
     * All have the lines from before the fork in common. After the first one that differs no two
     * ever drew the same: nothing ran between the restore and the new entropy.
     */
    private void eachDrewItsOwn(List<String> all, String counter) throws Exception {
        int common = common(all, counter);
        for (String session : all) {
            Await.until(
                    session + " goes on",
                    STEP_MAX,
                    () -> lines(session, counter).size() >= common + LINES_AFTER);
        }
        assertThat(common).as("lines from before the fork").isGreaterThan(2);
        assertThat(common(all, counter)).as("lines that all have").isEqualTo(common);
        Set<String> drawn = new HashSet<>();
        for (String session : all) {
            for (String line : lines(session, counter).subList(common, common + LINES_AFTER)) {
                assertThat(drawn.add(line.substring(line.indexOf(' '))))
                        .as("%s drew %s alone", session, line)
                        .isTrue();
            }
        }
    }

    /** Lines that all begin with, once each of them has gone on alone. */
    private int common(List<String> all, String counter) throws Exception {
        int[] common = new int[1];
        Await.until(
                "they differ",
                STEP_MAX,
                () -> {
                    List<List<String>> outputs = new ArrayList<>();
                    for (String session : all) {
                        outputs.add(lines(session, counter));
                    }
                    int shortest = outputs.stream().mapToInt(List::size).min().orElseThrow();
                    common[0] = 0;
                    while (common[0] < shortest && sameAt(outputs, common[0])) {
                        common[0]++;
                    }
                    return common[0] < shortest;
                });
        return common[0];
    }

    private static boolean sameAt(List<List<String>> outputs, int line) {
        return outputs.stream().map(o -> o.get(line)).distinct().count() == 1;
    }

    private void identitiesDiffer(List<String> all) throws IOException {
        for (String what :
                List.of(
                        "head -c 32 /dev/urandom | base64 -w0",
                        "cat /proc/sys/kernel/random/uuid",
                        "cat /proc/sys/kernel/hostname")) {
            Set<String> seen = new HashSet<>();
            for (String session : all) {
                seen.add(rest.shell(session, what));
            }
            assertThat(seen).as(what).hasSize(all.size());
        }
    }

    private void clockIsRight(String session) throws IOException {
        long before = System.currentTimeMillis();
        String answer = rest.shell(session, "date +%s%N").strip();
        long after = System.currentTimeMillis();
        assertThat(Long.parseLong(answer) / 1_000_000)
                .isBetween(before - CLOCK_MILLIS_MAX, after + CLOCK_MILLIS_MAX);
    }

    private void filesAreTheirOwn(List<String> all) throws IOException {
        for (String session : all) {
            assertThat(rest.shell(session, "cat file")).isEqualTo("shared\n");
            rest.shell(session, "echo " + session + " >own");
        }
        for (String session : all) {
            assertThat(rest.shell(session, "cat own")).isEqualTo(session + "\n");
        }
    }

    /** Bytes of a sandbox's disk and memory that no other file shares, as the API tells. */
    private long exclusiveBytes(String session) throws IOException {
        JsonNode storage = rest.get("/v1/sessions/" + session + "/storage");
        assertThat(storage.path("parts")).as("%s", storage).hasSize(1);
        assertThat(storage.path("bytes").asLong())
                .as("%s", storage)
                .isGreaterThan(MEMORY_BYTES / 4);
        return storage.path("exclusiveBytes").asLong();
    }
}
