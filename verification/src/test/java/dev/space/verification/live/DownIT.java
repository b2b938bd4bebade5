package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.space.verification.Repository;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** A stop loses no running session, whatever happens just before it or beside it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class DownIT {

    private static final Duration MAX = Duration.ofMinutes(10);
    private static final String MARK = "echo here > /dev/shm/mark";
    private static final String READ = "cat /dev/shm/mark";

    @SuppressWarnings("NullAway.Init") // set before every test
    private Platform platform;

    @BeforeAll
    void start() throws IOException {
        Platform.whyNot().ifPresent(why -> System.err.println("DownIT is not run: " + why));
        assumeTrue(Platform.whyNot().isEmpty(), () -> Platform.whyNot().orElseThrow());
        platform = Platform.start(Repository.root(), 10);
    }

    @AfterAll
    void stop() throws IOException {
        if (platform != null) {
            platform.close();
        }
    }

    private String marked() throws IOException {
        String session = platform.rest().created();
        assertThat(platform.rest().shell(session, MARK)).isEmpty();
        return session;
    }

    private void expectMark(String session) throws IOException {
        assertThat(platform.rest().state(session)).isEqualTo("RUNNING");
        assertThat(platform.rest().shell(session, READ)).isEqualTo("here\n");
        platform.rest().destroy(session);
    }

    private CompletableFuture<String> down() {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return platform.space("down", MAX);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @Test
    void whatBeginsWhileItStopsIsPausedToo() throws Exception {
        List<String> sessions = new ArrayList<>(List.of(marked(), marked()));
        Rest rest = platform.rest();
        CompletableFuture<String> down = down();
        while (!down.isDone() && sessions.size() < 9) {
            try {
                Rest.Answer created = rest.create();
                if (!created.ok()) {
                    break; // nothing new is placed any more
                }
                String session = created.json().path("id").asText();
                sessions.add(session);
                rest.shell(session, MARK);
            } catch (IOException paused) {
                // It was made, and rests before it was marked; or nothing answers any more.
                assertThat(paused).hasMessageNotContaining("500");
            }
        }
        assertThat(down.get()).contains("paused " + sessions.getFirst());
        platform.space("up", MAX);
        expectMark(sessions.removeFirst());
        expectMark(sessions.removeFirst());
        for (String session : sessions) {
            assertThat(platform.rest().state(session)).as(session).isEqualTo("RUNNING");
            assertThat(platform.rest().get("/v1/sessions/" + session + "/events").toString())
                    .as("its VM was never killed")
                    .doesNotContain("vm_exited");
            platform.rest().destroy(session);
        }
        assertThat(platform.rest().created()).as("new ones are taken again").startsWith("ses_");
    }

    @Test
    void aControlPlaneThatIsJustRestartedIsWaitedFor() throws Exception {
        String session = marked();
        platform.kill("control");
        assertThat(down().get()).contains("paused " + session);
        platform.space("up", MAX);
        expectMark(session);
    }

    @Test
    void nothingIsStoppedWhileASessionCannotBePaused() throws Exception {
        String session = marked();
        long vmm = platform.vmm(session);
        Path key = platform.data().resolve("secrets/operator-key");
        String operator = Files.readString(key);
        Files.writeString(key, "wrong");
        try {
            assertThatThrownBy(() -> platform.space("down", MAX))
                    .hasMessageContaining("nothing was stopped")
                    .hasMessageContaining(session)
                    .hasMessageContaining("down --force");
            assertThat(Platform.isRunning(vmm)).isTrue();
            assertThat(platform.rest().shell(session, READ)).isEqualTo("here\n");
        } finally {
            Files.writeString(key, operator);
        }
        platform.space("up", MAX);
        expectMark(session);
        platform.vmm(platform.rest().created());
        Files.writeString(key, "wrong");
        try {
            assertThat(platform.space("down --force", MAX)).contains("down");
        } finally {
            Files.writeString(key, operator);
        }
        platform.space("up", MAX);
    }

    @Test
    void ofTwoStartsAtOnceTheSecondWaitsForTheFirst() throws Exception {
        platform.space("down", MAX);
        List<Process> starts =
                List.of(platform.command("up").start(), platform.command("up").start());
        for (Process up : starts) {
            up.getInputStream().transferTo(java.io.OutputStream.nullOutputStream());
            assertThat(up.waitFor()).isZero();
        }
        platform.awaitReady();
    }
}
