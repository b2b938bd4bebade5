package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Real VMs through the object store: what ran goes on, whatever dies in the middle. */
final class SuspendIT extends OnOnePlatform {

    private static final Duration STEP_MAX = Duration.ofMinutes(3);

    /** Its numbers live in memory only; each is printed once. */
    private static final String COUNTER = "i=0; while :; do i=$((i+1)); echo $i; sleep 0.2; done";

    /** 16 MiB that live in the memory of a process only; their hash, again and again. */
    private static final String HASHES =
            "python3 -c 'import hashlib, os, time\nx = os.urandom(16 << 20)\nwhile True:\n"
                    + "    print(hashlib.sha256(x).hexdigest(), flush=True)\n    time.sleep(0.5)'";

    /** 8 MiB in a file system that is memory, as many on the disk. */
    private static final String FILL =
            "head -c 8388608 /dev/urandom >/dev/shm/blob; head -c 8388608 /dev/urandom >blob; sync";

    private static final String SUMS = "cat /dev/shm/blob blob | sha256sum; sha256sum blob";

    private List<String> counted(String session, String counter) throws IOException {
        List<String> lines = rest.output(session, counter).lines().toList();
        for (int i = 0; i < lines.size() - 1; i++) { // the last may still be written
            assertThat(lines.get(i)).isEqualTo(Integer.toString(i + 1));
        }
        return lines;
    }

    private void awaitAbove(String session, String counter, long number) throws Exception {
        Await.until(
                "the counter is above " + number,
                STEP_MAX,
                () -> counted(session, counter).size() - 1 > number);
    }

    private JsonNode stored(String session) throws IOException {
        String id = rest.session(session).path("durable").path("snapshot").asText();
        return rest.list("/v1/sessions/" + session + "/snapshots").stream()
                .filter(s -> s.path("id").asText().equals(id))
                .findFirst()
                .orElseThrow();
    }

    private void assertSuspended(String session) throws IOException {
        JsonNode now = rest.session(session);
        assertThat(now.path("state").asText()).isEqualTo("SUSPENDED");
        assertThat(now.path("durability").asText()).isEqualTo("DURABLE");
        assertThat(now.has("node")).as("it is on no node").isFalse();
        assertThat(stored(session).path("durability").asText()).isEqualTo("DURABLE");
    }

    @Test
    void memoryProcessesAndFilesGoOnFromTheObjectStore() throws Exception {
        String session = rest.created();
        rest.shell(session, FILL);
        String sums = rest.shell(session, SUMS);
        String counter = rest.background(session, COUNTER);
        String hashes = rest.background(session, HASHES);
        awaitAbove(session, counter, 3);

        rest.command(session, "suspend").demand();
        assertSuspended(session);
        platform.removeCopies(session);
        rest.command(session, "restore").demand();
        long then = counted(session, counter).size();
        awaitAbove(session, counter, then + 3);
        assertThat(rest.shell(session, SUMS)).as("files and memory").isEqualTo(sums);
        assertThat(rest.session(session).path("epoch").asLong()).isEqualTo(2);
        final JsonNode first = stored(session).path("stored");

        rest.command(session, "suspend").demand();
        JsonNode second = stored(session).path("stored");
        System.err.printf("SuspendIT: sent %s, then %s%n", first, second);
        assertThat(second.path("bytesUploaded").asLong())
                .as("little changed, little is sent")
                .isLessThan(first.path("bytesUploaded").asLong() / 2);
        platform.removeCopies(session);
        rest.command(session, "resume").demand();
        awaitAbove(session, counter, counted(session, counter).size() + 3L);
        assertThat(rest.shell(session, SUMS)).isEqualTo(sums);
        Set<String> seen =
                rest.output(session, hashes).lines().limit(1000).collect(Collectors.toSet());
        seen.removeIf(line -> line.length() < 64); // the last may still be written
        assertThat(seen).as("hashes of the array in memory").hasSize(1);
        rest.destroy(session);
    }

    /** Suspends, kills while parts are sent, and goes on. */
    private void killedWhileItIsSent(String service) throws Exception {
        String session = rest.created();
        rest.shell(session, "head -c 67108864 /dev/urandom >blob; sync");
        String sums = rest.shell(session, "sha256sum blob");
        String counter = rest.background(session, COUNTER);
        awaitAbove(session, counter, 2);
        JsonNode begun =
                rest.insist("POST", "/v1/sessions/" + session + "/suspend?wait=0", null)
                        .demand()
                        .json();
        String operation = begun.path("id").asText();
        Await.until(
                "parts are sent",
                STEP_MAX,
                () -> {
                    JsonNode now = rest.get("/v1/operations/" + operation);
                    return now.path("step").asText().equals("upload") || now.has("endedAt");
                });
        platform.kill(service);
        JsonNode ended = rest.get("/v1/operations/" + operation + "?wait=120");
        System.err.printf("SuspendIT: %s killed: %s%n", service, ended);
        platform.awaitReady();
        String state = rest.state(session);
        assertThat(state)
                .isEqualTo(ended.path("state").asText().equals("DONE") ? "SUSPENDED" : "PAUSED");
        if (state.equals("SUSPENDED")) {
            assertSuspended(session);
            platform.removeCopies(session);
        }
        rest.command(session, "resume").demand();
        awaitAbove(session, counter, counted(session, counter).size() + 2L);
        assertThat(rest.shell(session, "sha256sum blob")).isEqualTo(sums);
        rest.destroy(session);
    }

    @Test
    void aKilledNodeWorkerEndsNoSuspend() throws Exception {
        killedWhileItIsSent("node-worker");
    }

    @Test
    void aKilledObjectStoreEndsNoSession() throws Exception {
        killedWhileItIsSent("objects");
    }
}
