package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.verification.Repository;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Two nodes with real VMs: what runs on one goes on, memory and files the same, on the other when
 * the first is gone, and back. The short form of {@code verification/time-machine.sh}.
 */
final class TwoNodesIT {

    private static final Duration STEP_MAX = Duration.ofMinutes(3);

    /** Its numbers live in memory only; each is a line of a file too, which is never synced. */
    private static final String COUNTER =
            "i=0; while :; do i=$((i+1)); echo $i; echo $i >>grows; sleep 0.2; done";

    /** 16 MiB that live in the memory of a process only; their hash, again and again. */
    private static final String HASHES =
            "python3 -c 'import hashlib, os, time\nx = os.urandom(16 << 20)\nwhile True:\n"
                    + "    print(hashlib.sha256(x).hexdigest(), flush=True)\n    time.sleep(0.5)'";

    private static final String FILL =
            "head -c 8388608 /dev/urandom >/dev/shm/blob; head -c 8388608 /dev/urandom >blob";

    /** Files in memory, a file of its own, and all of the template's. */
    private static final String SUMS =
            "cat /dev/shm/blob blob | sha256sum;"
                    + " find /usr /etc -xdev -type f -print0 2>/dev/null | sort -z"
                    + " | xargs -0 cat 2>/dev/null | sha256sum";

    private static List<String> whole(String output) {
        return output.substring(0, output.lastIndexOf('\n') + 1).lines().toList();
    }

    private static void inOrder(List<String> lines) {
        for (int i = 0; i < lines.size(); i++) {
            assertThat(lines.get(i)).isEqualTo(Integer.toString(i + 1));
        }
    }

    @Test
    void whatRanOnOneGoesOnOnTheOtherAndBack() throws Exception {
        Platform.whyNot().ifPresent(why -> System.err.println("TwoNodesIT is not run: " + why));
        assumeTrue(Platform.whyNot().isEmpty(), () -> Platform.whyNot().orElseThrow());
        try (Platform platform =
                Platform.start(
                        Repository.root(), 3, "rolling: {disk-seconds: 0, full-seconds: 0}", 2)) {
            Rest rest = platform.rest();
            Await.until("both nodes are alive", STEP_MAX, () -> alive(rest).size() == 2);
            String session = rest.created();
            rest.shell(session, FILL);
            final String sums = rest.shell(session, SUMS);
            final String counter = rest.background(session, COUNTER);
            String hashes = rest.background(session, HASHES);
            Await.until(
                    "it has begun", STEP_MAX, () -> !whole(rest.output(session, hashes)).isEmpty());
            for (int round = 0; round < 2; round++) {
                travel(platform, rest, session);
                int then = whole(rest.output(session, counter)).size();
                Await.until(
                        "the counter goes on",
                        STEP_MAX,
                        () -> whole(rest.output(session, counter)).size() > then + 3);
                inOrder(whole(rest.output(session, counter)));
                inOrder(whole(rest.shell(session, "cat grows")));
                assertThat(rest.shell(session, SUMS)).as("files").isEqualTo(sums);
            }
            Set<String> seen =
                    whole(rest.output(session, hashes)).stream().collect(Collectors.toSet());
            assertThat(seen).as("hashes of an array that lives in memory").hasSize(1);
            rest.destroy(session);
        }
    }

    private static Set<String> alive(Rest rest) throws Exception {
        return rest.list("/v1/nodes").stream()
                .filter(node -> node.path("alive").asBoolean())
                .map(node -> node.path("id").asText())
                .collect(Collectors.toSet());
    }

    private static void travel(Platform platform, Rest rest, String session) throws Exception {
        String from = rest.session(session).path("node").asText();
        rest.command(session, "suspend").demand();
        JsonNode suspended = rest.session(session);
        assertThat(suspended.path("state").asText()).isEqualTo("SUSPENDED");
        assertThat(suspended.path("durability").asText()).isEqualTo("DURABLE");
        assertThat(suspended.has("node")).isFalse();
        platform.space("node stop " + from, STEP_MAX);
        assertThat(alive(rest)).hasSize(1).doesNotContain(from);
        rest.command(session, "restore").demand();
        assertThat(rest.session(session).path("node").asText()).isIn(alive(rest));
        platform.space("node start " + from, STEP_MAX);
        Await.until("both nodes are alive", STEP_MAX, () -> alive(rest).size() == 2);
    }
}
