package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
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

    private Rest.Answer outputFrom(String session, String process, long offset, String life)
            throws IOException {
        return rest.insist(
                "GET",
                "/v1/sessions/%s/processes/%s/output?offset=%d&life=%s"
                        .formatted(session, process, offset, life),
                null);
    }

    private static void isLost(Rest.Answer answer) throws IOException {
        assertThat(answer.status()).as(answer.text()).isEqualTo(410);
        assertThat(answer.json().path("code").asText()).isEqualTo("PROCESS_LOST");
    }

    @Test
    void whoReadsOnLearnsThatTheSessionWentBack() throws Exception {
        String session = rest.created();
        String counter = rest.background(session, COUNTER);
        awaitAbove(session, counter, 3);
        String path = "/v1/sessions/" + session + "/processes/" + counter + "/output";
        Rest.Answer early = rest.insist("GET", path, null).demand();
        String life = early.headers().firstValue("Space-Output-Life").orElseThrow();
        rest.command(session, "checkpoint").demand();
        String good = newest(session, "FULL").path("id").asText();
        awaitAbove(session, counter, count(session, counter) + 20);

        // Through pause and resume nothing is lost: the old life reads on without a gap.
        long read = outputFrom(session, counter, 0, life).demand().text().length();
        rest.command(session, "pause").demand();
        rest.command(session, "resume").demand();
        Rest.Answer on = outputFrom(session, counter, read, life).demand();
        String second = on.headers().firstValue("Space-Output-Life").orElseThrow();
        assertThat(second).isNotEqualTo(life);
        String later = rest.background(session, COUNTER);

        rest.rollback(session, good).demand();
        isLost(outputFrom(session, counter, read, life));
        isLost(outputFrom(session, counter, read, second));
        isLost(outputFrom(session, later, 0, second));
        awaitAbove(session, counter, 30);
        isLost(outputFrom(session, counter, read, life));
        Rest.Answer again = outputFrom(session, counter, early.text().length(), life).demand();
        assertThat(early.text() + again.text()).startsWith("1\n2\n3\n4\n5\n");
        rest.destroy(session);
    }

    @Test
    void filesOfThenAndWhatChangedAreToldWithoutASandboxOfTheirOwn() throws Exception {
        String session = rest.created();
        rest.shell(session, "mkdir work && echo one >work/kept && echo two >work/gone && sync");
        rest.command(session, "checkpoint").demand();
        String then = newest(session, "FULL").path("id").asText();
        // Without a sync: a change that the guest still has in memory counts as well.
        rest.shell(session, "echo ONE >work/kept; rm work/gone; echo three >'work/new file'");

        String home = rest.shell(session, "pwd").strip();
        assertThat(changes(session, "?from=" + then + "&hash=true", home + "/work/"))
                .containsExactly(
                        "deleted " + home + "/work/gone",
                        "modified " + home + "/work/kept content,time " + sha256("ONE\n"),
                        "added " + home + "/work/new%20file " + sha256("three\n"));
        assertThat(changes(session, "", home + "/work")) // since the template
                .containsExactly(
                        "added " + home + "/work",
                        "added " + home + "/work/kept",
                        "added " + home + "/work/new%20file");

        String files = "/v1/sessions/" + session + "/snapshots/" + then + "/files";
        assertThat(rest.insist("GET", files + "?path=" + home + "/work/gone", null).text())
                .isEqualTo("two\n");
        assertThat(rest.list(files + "/list?path=" + home + "/work"))
                .extracting(f -> f.path("name").asText())
                .containsExactly("gone", "kept");
        assertThat(rest.get(files + "/stat?path=" + home + "/work").path("owner").asText())
                .isEqualTo(rest.shell(session, "id -un").strip());
        assertThat(rest.insist("GET", files + "?path=/nothing", null).status()).isEqualTo(404);

        rest.command(session, "pause").demand();
        assertThat(changes(session, "?from=" + then, home + "/work/")).hasSize(3);
        rest.destroy(session);
    }

    /** One line for each change beneath the directory, in the order of the answer. */
    private List<String> changes(String session, String query, String beneath) throws IOException {
        List<String> lines = new ArrayList<>();
        for (JsonNode change : rest.list("/v1/sessions/" + session + "/changes" + query)) {
            String path = change.path("file").path("path").asText();
            if (path.startsWith(beneath)) {
                List<String> what = new ArrayList<>();
                change.path("what").forEach(one -> what.add(one.asText()));
                String line =
                        String.join(
                                " ",
                                change.path("change").asText(),
                                path,
                                String.join(",", what),
                                change.path("sha256").asText(""));
                lines.add(line.strip().replaceAll(" +", " "));
            }
        }
        return lines;
    }

    private static String sha256(String text) throws Exception {
        return HexFormat.of()
                .formatHex(
                        MessageDigest.getInstance("SHA-256")
                                .digest(text.getBytes(StandardCharsets.UTF_8)));
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
