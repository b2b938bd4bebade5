package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Back in time on a real VM: files, memory and the output of processes are those of then. */
final class RollbackIT extends OnOnePlatform {

    private static final Duration STEP_MAX = Duration.ofMinutes(3);

    /** Its numbers live in memory only; each is printed once. */
    private static final String COUNTER = "i=0; while :; do i=$((i+1)); echo $i; sleep 0.2; done";

    private long count(String session, String process) throws IOException {
        List<String> lines = rest.output(session, process).lines().toList();
        for (int i = 0; i < lines.size() - 1; i++) { // the last may still be written
            assertThat(lines.get(i)).isEqualTo(Integer.toString(i + 1));
        }
        return lines.size() - 1L;
    }

    private void awaitAbove(String session, String process, long number) throws Exception {
        Await.until(
                "the counter is above " + number, STEP_MAX, () -> count(session, process) > number);
    }

    private JsonNode newest(String session, String kind) throws IOException {
        return rest.list("/v1/sessions/" + session + "/snapshots").stream()
                .filter(s -> s.path("kind").asText().equals(kind))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aDestructiveCommandIsUndoneAndTheUndoToo() throws Exception {
        String session = rest.created();
        rest.shell(session, "mkdir work && echo precious >work/file");
        String counter = rest.background(session, COUNTER);
        awaitAbove(session, counter, 3);
        rest.command(session, "checkpoint").demand();
        String good = newest(session, "FULL").path("id").asText();
        long then = count(session, counter);
        rest.shell(session, "rm -rf work && echo made-later >later");
        awaitAbove(session, counter, then + 40);

        rest.rollback(session, good).demand();
        assertThat(count(session, counter)).isLessThan(then + 30);
        assertThat(rest.shell(session, "cat work/file; ls later 2>&1 | grep -c No"))
                .isEqualTo("precious\n1\n");
        awaitAbove(session, counter, then + 3); // the same process, from where it was then
        String safety = newest(session, "FULL").path("id").asText();
        assertThat(safety).isNotEqualTo(good);

        rest.rollback(session, safety).demand();
        assertThat(rest.shell(session, "cat later; ls work 2>&1 | grep -c No"))
                .isEqualTo("made-later\n1\n");
        assertThat(count(session, counter)).isGreaterThan(then + 39);
        assertThat(rest.session(session).path("epoch").asLong()).isEqualTo(3);
        rest.destroy(session);
    }

    @Test
    void afterACrashTheNewerDiskCanBeHadBack() throws Exception {
        String session = rest.created();
        rest.command(session, "checkpoint").demand();
        rest.shell(session, "echo late >late; sync");
        Platform.killProcess(platform.vmm(session));
        Await.until(
                "it is recovered",
                STEP_MAX,
                () ->
                        rest.session(session).path("epoch").asLong() == 2
                                && rest.state(session).equals("RUNNING"));
        assertThat(rest.shell(session, "ls late 2>&1 | grep -c No")).isEqualTo("1\n");

        rest.rollback(session, newest(session, "DISK").path("id").asText()).demand();
        assertThat(rest.shell(session, "cat late")).isEqualTo("late\n");
        rest.destroy(session);
    }
}
