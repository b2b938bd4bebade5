package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.space.verification.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * A node whose disk has less left than its reserve refuses what would need more, by the documented
 * code, and loses nothing: what runs goes on, and all works again once there is space. A guest that
 * uses the rest up is paused before a page of anybody finds no place.
 */
final class DiskFullIT {

    private static final Duration FALLOCATE_MAX = Duration.ofSeconds(60);
    private static final Duration MAX = Duration.ofMinutes(2);

    /** Left free: below the reserve of the default configuration (1 GiB), above where it holds. */
    private static final long LEFT_BYTES = 700L << 20;

    /** So that a guest has something to write before it is held. */
    private static final long LEFT_TO_A_GUEST_BYTES = 1500L << 20;

    private static final int FILLER_MIB = 3000;

    private static final int HTTP_INSUFFICIENT_STORAGE = 507;

    @Test
    void aFullNodeRefusesAndLosesNothing() throws Exception {
        Platform.whyNot().ifPresent(why -> System.err.println("DiskFullIT is not run: " + why));
        assumeTrue(Platform.whyNot().isEmpty(), () -> Platform.whyNot().orElseThrow());
        try (Platform platform = Platform.start(Repository.root(), 4)) {
            Rest rest = platform.rest();
            String session = rest.created();
            rest.shell(session, "echo kept > note");
            String counter =
                    rest.background(
                            session, "n=0; while :; do n=$((n+1)); echo $n; sleep 0.2; done");
            Path ballast = platform.data().resolve("node/ballast");
            fill(platform, ballast, LEFT_BYTES);

            refused(create(rest));
            refused(rest.command(session, "checkpoint"));
            assertThat(rest.state(session)).isEqualTo("RUNNING");
            assertThat(rest.shell(session, "cat note")).isEqualTo("kept\n");
            goesOn(rest, session, counter);
            // A pause ends what writes: it may use the reserve.
            rest.command(session, "pause").demand();
            refused(rest.command(session, "resume"));
            assertThat(rest.state(session)).isEqualTo("PAUSED");

            Files.delete(ballast);
            Await.until("space is free again", MAX, () -> create(rest).ok());
            rest.command(session, "resume").demand();
            rest.command(session, "checkpoint").demand();
            assertThat(rest.shell(session, "cat note")).isEqualTo("kept\n");
            goesOn(rest, session, counter);
            assertNoGap(rest.output(session, counter));
        }
    }

    @Test
    void aGuestThatFillsTheNodeIsPausedAndItsNeighbourGoesOn() throws Exception {
        assumeTrue(Platform.whyNot().isEmpty(), () -> Platform.whyNot().orElseThrow());
        try (Platform platform = Platform.start(Repository.root(), 4)) {
            Rest rest = platform.rest();
            String neighbour = rest.created();
            String counter =
                    rest.background(
                            neighbour, "n=0; while :; do n=$((n+1)); echo $n; sleep 0.2; done");
            String hostile = rest.created();
            rest.shell(hostile, "echo kept > note; sync");
            Path ballast = platform.data().resolve("node/ballast");
            fill(platform, ballast, LEFT_TO_A_GUEST_BYTES);

            String filler =
                    rest.background(
                            hostile, "dd if=/dev/zero of=big bs=1M count=" + FILLER_MIB + "; sync");
            Await.until(
                    "whoever fills the disk is paused",
                    MAX,
                    () -> rest.state(hostile).equals("PAUSED"));
            assertThat(rest.session(hostile).path("reason").path("code").asText())
                    .isEqualTo("NODE_DISK_FULL");
            goesOn(rest, neighbour, counter);
            assertThat(rest.session(neighbour).path("epoch").asLong()).isEqualTo(1);
            refused(rest.command(hostile, "resume"));

            Files.delete(ballast);
            Await.until("there is space to go on", MAX, () -> rest.command(hostile, "resume").ok());
            assertThat(rest.shell(hostile, "cat note")).isEqualTo("kept\n");
            assertThat(rest.process(hostile, filler).path("state").asText())
                    .isIn("RUNNING", "EXITED");
            assertNoGap(rest.output(neighbour, counter));
        }
    }

    /** Once, because the refusal is what is asked for: it would be tried again elsewhere. */
    private static Rest.Answer create(Rest rest) throws IOException {
        return rest.call(
                "POST",
                "/v1/sessions?wait=120",
                Map.of("template", Platform.TEMPLATE, "size", Platform.SIZE),
                java.util.UUID.randomUUID().toString());
    }

    private static void refused(Rest.Answer answer) throws IOException {
        assertThat(answer.status()).as(answer.text()).isEqualTo(HTTP_INSUFFICIENT_STORAGE);
        assertThat(answer.json().path("code").asText()).isEqualTo("NODE_DISK_FULL");
        assertThat(answer.json().path("detail").asText())
                .contains("are kept in reserve")
                .contains("suspend or delete sessions");
    }

    private static void fill(Platform platform, Path ballast, long left) throws Exception {
        long free = Files.getFileStore(platform.data().resolve("node")).getUsableSpace();
        Process fallocate =
                new ProcessBuilder(
                                "fallocate", "-l", Long.toString(free - left), ballast.toString())
                        .inheritIO()
                        .start();
        assertThat(fallocate.waitFor(FALLOCATE_MAX.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(fallocate.exitValue()).isZero();
    }

    private static void goesOn(Rest rest, String session, String counter) throws Exception {
        int before = rest.output(session, counter).length();
        Await.until(
                "the counter goes on", MAX, () -> rest.output(session, counter).length() > before);
    }

    private static void assertNoGap(String numbers) {
        int last = 0;
        for (String line : numbers.lines().toList()) {
            assertThat(Integer.parseInt(line)).isEqualTo(last + 1);
            last++;
        }
        assertThat(last).isPositive();
    }
}
