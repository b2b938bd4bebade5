package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.space.verification.Repository;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/** Sessions from a pool of real VMs: who gets them, and that none is lost or left. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class PoolIT {

    private static final int HOT = 4;
    private static final int PREPARED = 1;
    private static final int BURST = 16;
    private static final Duration STEP_MAX = Duration.ofMinutes(4);
    private static final String OWN =
            "head -c 16 /dev/urandom | od -An -tx1; cat /proc/sys/kernel/random/uuid; hostname";

    @SuppressWarnings("NullAway.Init") // set before every test
    private Platform platform;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Rest rest;

    @BeforeAll
    void start() throws Exception {
        Platform.whyNot().ifPresent(why -> System.err.println("PoolIT is not run: " + why));
        assumeTrue(Platform.whyNot().isEmpty(), () -> Platform.whyNot().orElseThrow());
        platform =
                Platform.start(
                        Repository.root(),
                        BURST + HOT + 4,
                        "pool: {hot: %d, prepared: %d}".formatted(HOT, PREPARED));
        rest = platform.rest();
    }

    @AfterAll
    void stop() throws IOException {
        if (platform != null) {
            platform.close();
        }
    }

    private double figure(String name) throws IOException {
        try (HttpClient http = HttpClient.newHttpClient()) {
            URI uri = URI.create("http://127.0.0.1:" + platform.port("node-http") + "/metrics");
            String all =
                    http.send(
                                    HttpRequest.newBuilder(uri).build(),
                                    HttpResponse.BodyHandlers.ofString())
                            .body();
            Matcher line = Pattern.compile("(?m)^" + name + " (\\S+)").matcher(all);
            return line.find() ? Double.parseDouble(line.group(1)) : -1;
        } catch (IOException e) {
            return -1; // the node is being started again
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private void awaitPool() throws Exception {
        Await.until(
                "the pool is full",
                STEP_MAX,
                () ->
                        figure("space_node_pool_hot") == HOT
                                && figure("space_node_pool_prepared") == PREPARED);
    }

    /** Running VMMs of the platform's slots whose files lie there. */
    private long vmms(String place) throws IOException {
        long found = 0;
        for (long pid : Census.pids()) {
            if (Platform.isRunning(pid) && isVmm(Path.of("/proc/" + pid), place)) {
                found++;
            }
        }
        return found;
    }

    private boolean isVmm(Path process, String place) {
        try {
            int uid = (int) Files.getAttribute(process, "unix:uid");
            return uid >= platform.uidBase()
                    && uid < platform.uidBase() + platform.slots()
                    && Files.readString(process.resolve("comm")).startsWith("qemu")
                    && Files.readString(process.resolve("mountinfo")).contains(place);
        } catch (IOException e) {
            return false; // it ended while it was looked at
        }
    }

    private List<String> createdAtOnce(int n) throws Exception {
        List<Future<String>> all = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < n; i++) {
                all.add(threads.submit(() -> rest.created()));
            }
        }
        List<String> sessions = new ArrayList<>();
        for (Future<String> each : all) {
            sessions.add(each.get());
        }
        return sessions;
    }

    private void destroyAll(List<String> sessions) throws Exception {
        for (String session : sessions) {
            rest.destroy(session);
        }
        Await.until("their VMs are gone", STEP_MAX, () -> vmms("/sessions/") == 0);
    }

    private void onlyThePoolIsLeft() throws Exception {
        awaitPool();
        assertThat(vmms("/staging/pool-")).isEqualTo(HOT + PREPARED);
        assertThat(vmms("/")).isEqualTo(HOT + PREPARED);
    }

    @Test
    @Order(1)
    void aBurstIsServedWholeAndNoTwoAreAlike() throws Exception {
        awaitPool();
        double before = figure("space_node_pool_taken_hot_total");
        List<String> sessions = createdAtOnce(BURST);
        assertThat(figure("space_node_pool_taken_hot_total") - before).isGreaterThanOrEqualTo(HOT);
        List<String> seen = new ArrayList<>();
        for (String session : sessions) {
            List<String> own = rest.shell(session, OWN).lines().toList();
            assertThat(own).hasSize(3);
            assertThat(session.replace('_', '-')).startsWith(own.getLast());
            seen.addAll(own);
            long guest = Long.parseLong(rest.shell(session, "date +%s").strip());
            assertThat(Math.abs(guest - System.currentTimeMillis() / 1000)).isLessThanOrEqualTo(2);
        }
        assertThat(seen).doesNotHaveDuplicates();
        destroyAll(sessions);
        onlyThePoolIsLeft();
    }

    @Test
    @Order(2)
    void aNodeKilledAtTheRefillLeavesNone() throws Exception {
        awaitPool();
        List<String> sessions = createdAtOnce(2);
        platform.kill("node-worker");
        platform.awaitReady();
        for (String session : sessions) {
            assertThat(rest.shell(session, "echo alive")).isEqualTo("alive\n");
        }
        destroyAll(sessions);
        onlyThePoolIsLeft();
    }

    @Test
    @Order(3)
    void aNodeKilledWhileItBindsLosesNoCreation() throws Exception {
        awaitPool();
        List<Future<String>> all = new ArrayList<>();
        double before = figure("space_node_pool_taken_hot_total");
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < HOT; i++) {
                all.add(threads.submit(() -> rest.created()));
            }
            Await.until(
                    "a VM is taken",
                    STEP_MAX,
                    () -> figure("space_node_pool_taken_hot_total") > before);
            platform.kill("node-worker");
        }
        platform.awaitReady();
        List<String> sessions = new ArrayList<>();
        for (Future<String> each : all) {
            sessions.add(each.get());
        }
        for (String session : sessions) {
            assertThat(rest.shell(session, "echo alive")).isEqualTo("alive\n");
        }
        destroyAll(sessions);
        onlyThePoolIsLeft();
    }

    @Test
    @Order(4)
    void downLeavesNoneAndUpMakesThemAgain() throws Exception {
        awaitPool();
        platform.space("down", STEP_MAX);
        assertThat(vmms("/")).isZero();
        platform.space("up", STEP_MAX);
        onlyThePoolIsLeft();
    }
}
