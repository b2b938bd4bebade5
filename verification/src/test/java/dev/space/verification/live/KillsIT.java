package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.verification.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * SIGKILL for one process at a time while something is under way. A bystander session counts
 * through all of it: its sandbox must be the same at the end, with no number missing or twice.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class KillsIT {

    private static final int SLOTS = 8;
    private static final Duration STEP_MAX = Duration.ofMinutes(3);
    private static final String COUNTER = "i=0; while :; do i=$((i+1)); echo $i; sleep 0.2; done";

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @SuppressWarnings("NullAway.Init") // set before every test
    private Platform platform;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Rest rest;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Census census;

    private String bystander = "";
    private String counter = "";

    @BeforeAll
    void start() throws Exception {
        Platform.whyNot().ifPresent(why -> System.err.println("KillsIT is not run: " + why));
        assumeTrue(Platform.whyNot().isEmpty(), () -> Platform.whyNot().orElseThrow());
        platform = Platform.start(Repository.root(), SLOTS);
        rest = platform.rest();
        census = new Census(platform);
        bystander = rest.created();
        counter = rest.background(bystander, COUNTER);
        awaitCount(bystander, counter, 2);
    }

    @AfterAll
    void stop() throws Exception {
        threads.close();
        if (platform != null) {
            platform.close();
        }
    }

    @BeforeEach
    void everythingIsUp() throws Exception {
        platform.awaitReady();
    }

    /** After every kill: the bystander is what it was, and nothing else is left. */
    @AfterEach
    void bystanderIsUnharmed() throws Exception {
        if (bystander.isEmpty()) {
            return;
        }
        platform.awaitReady();
        JsonNode session = rest.session(bystander);
        assertThat(session.path("state").asText()).isEqualTo("RUNNING");
        assertThat(session.path("epoch").asLong()).as("epoch of the bystander").isEqualTo(1);
        awaitCount(bystander, counter, count(bystander, counter) + 1);
        // What a failed test did not come to; the others are not to fail for it.
        for (JsonNode other : rest.list("/v1/sessions?limit=100")) {
            String id = other.path("id").asText();
            if (!id.equals(bystander) && !other.path("state").asText().equals("DESTROYED")) {
                rest.destroy(id);
            }
        }
        Await.until(
                "nothing left beside the bystander",
                STEP_MAX,
                () -> othersThan(bystander).isEmpty());
    }

    private Set<String> othersThan(String session) throws Exception {
        long vmm = platform.vmm(session);
        long jail = ProcessHandle.of(vmm).flatMap(ProcessHandle::parent).orElseThrow().pid();
        Set<String> found = census.sandboxes();
        found.removeIf(f ->
                f.contains(session)
                        || f.equals("process " + vmm + " of a slot's uid")
                        || f.equals("process " + jail + " of a slot's uid")
                        || (f.startsWith("cgroup ") && holds(f, vmm)));
        return found;
    }

    private static boolean holds(String finding, long pid) {
        String path = finding.split(" ", -1)[1];
        try {
            return List.of(
                            Files.readString(java.nio.file.Path.of(path, "cgroup.procs"))
                                    .split("\n", -1))
                    .contains(Long.toString(pid));
        } catch (IOException e) {
            return false;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"control", "node-worker", "node-manager", "temporal", "postgres"})
    void createEndsDespiteTheDeathOf(String victim) throws Exception {
        Future<Rest.Answer> create = threads.submit(() -> rest.create());
        Await.until("the creation is under way", STEP_MAX, () -> underWay("CREATE", create));
        platform.kill(victim);
        String session = get(create).demand().json().path("id").asText();
        assertThat(rest.state(session)).isEqualTo("RUNNING");
        assertThat(rest.shell(session, "echo alive")).isEqualTo("alive\n");
        rest.destroy(session);
    }

    @ParameterizedTest
    @ValueSource(strings = {"control", "node-worker", "node-manager", "temporal", "postgres"})
    void pauseEndsDespiteTheDeathOf(String victim) throws Exception {
        String session = rest.created();
        String process = rest.background(session, COUNTER);
        awaitCount(session, process, 2);
        Future<Rest.Answer> pause = threads.submit(() -> rest.command(session, "pause"));
        Await.until("the pause is under way", STEP_MAX, () -> underWay("PAUSE", pause));
        platform.kill(victim);
        var _ = get(pause);
        Await.until("the pause has ended", STEP_MAX, () -> !underWay("PAUSE"));
        // Before publish it goes on running, after it it is paused; there is no third outcome.
        String state = rest.state(session);
        assertThat(state).isIn("PAUSED", "RUNNING");
        if (state.equals("PAUSED")) {
            rest.command(session, "resume").demand();
        }
        awaitCount(session, process, count(session, process) + 1);
        rest.destroy(session);
    }

    @ParameterizedTest
    @ValueSource(strings = {"node-worker", "node-manager"})
    void outputGoesOnDespiteTheDeathOf(String victim) throws Exception {
        String session = rest.created();
        long vmm = platform.vmm(session);
        String process = rest.background(session, COUNTER.replace("0.2", "0.05"));
        awaitCount(session, process, 5);
        platform.kill(victim);
        platform.awaitReady();
        awaitCount(session, process, count(session, process) + 5);
        assertThat(rest.process(session, process).path("state").asText()).isEqualTo("RUNNING");
        assertThat(platform.vmm(session)).as("the VMM's pid").isEqualTo(vmm);
        assertThat(rest.session(session).path("epoch").asLong()).isEqualTo(1);
        rest.destroy(session);
    }

    @Test
    void aKilledVmmIsRecoveredColdFromItsDisk() throws Exception {
        String session = rest.created();
        var _ = rest.shell(session, "echo kept >kept; sync");
        Platform.killProcess(platform.vmm(session));
        Await.until(
                "a new sandbox runs",
                STEP_MAX,
                () -> {
                    JsonNode now = rest.session(session);
                    assertThat(now.path("state").asText()).isNotEqualTo("FAILED");
                    return now.path("epoch").asLong() == 2
                            && now.path("state").asText().equals("RUNNING");
                });
        assertThat(rest.shell(session, "cat kept")).isEqualTo("kept\n");
        assertThat(rest.list("/v1/sessions/" + session + "/snapshots"))
                .as("snapshots: the dead VM's disk")
                .anySatisfy(s -> assertThat(s.path("kind").asText()).isEqualTo("DISK"));
        rest.destroy(session);
    }

    @Test
    void aKilledSupervisorsProcessesAreAdopted() throws Exception {
        Map<String, Long> before = pids();
        platform.kill("supervisor");
        var _ = platform.space("status", STEP_MAX);
        platform.awaitReady();
        assertThat(pids()).as("pids of the services").isEqualTo(before);
    }

    private Map<String, Long> pids() throws IOException {
        Map<String, Long> pids = new HashMap<>();
        for (String service : Platform.SERVICES) {
            pids.put(service, platform.pid(service));
        }
        return pids;
    }

    @Test
    void aLateFirstAttemptChangesNothing() throws Exception {
        String session = rest.created();
        String process = rest.background(session, COUNTER);
        rest.command(session, "pause").demand();
        rest.command(session, "resume").demand();
        Set<String> snapshots = snapshots(session);
        String digest = rest.session(session).path("templateDigest").asText();
        try (LateCalls late = LateCalls.to(platform)) {
            for (JsonNode operation : rest.list("/v1/sessions/" + session + "/operations")) {
                late.send(operation, digest);
            }
        }
        JsonNode now = rest.session(session);
        assertThat(now.path("state").asText()).isEqualTo("RUNNING");
        assertThat(now.path("epoch").asLong()).isEqualTo(2);
        assertThat(snapshots(session)).isEqualTo(snapshots);
        awaitCount(session, process, count(session, process) + 1);
        List<JsonNode> operations = rest.list("/v1/sessions/" + session + "/operations");
        rest.destroy(session);
        try (LateCalls late = LateCalls.to(platform)) {
            for (JsonNode operation : operations) {
                late.send(operation, digest);
            }
        }
        // That a destroyed session stays so is what bystanderIsUnharmed looks for.
        assertThat(rest.insist("GET", "/v1/sessions/" + session, null).text())
                .doesNotContain("RUNNING");
    }

    private Set<String> snapshots(String session) throws IOException {
        return rest.list("/v1/sessions/" + session + "/snapshots").stream()
                .map(s -> s.path("id").asText())
                .collect(java.util.stream.Collectors.toSet());
    }

    /** Under way, or already over because this machine was quick. */
    private boolean underWay(String kind, Future<?> call) throws Exception {
        return call.isDone() || underWay(kind);
    }

    private boolean underWay(String kind) throws Exception {
        return census.sandboxes().stream().anyMatch(f -> f.startsWith(kind + " "));
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.get(STEP_MAX.toSeconds() * 2, TimeUnit.SECONDS);
    }

    /** The last number, after checking that none is missing or there twice. */
    private long count(String session, String process) throws IOException {
        String output = rest.output(session, process);
        long expected = 0;
        for (String line : output.substring(0, output.lastIndexOf('\n') + 1).lines().toList()) {
            expected++;
            assertThat(line).as("line " + expected + " of the counter").isEqualTo("" + expected);
        }
        return expected;
    }

    private void awaitCount(String session, String process, long wanted) throws Exception {
        Callable<Boolean> reached = () -> count(session, process) >= wanted;
        Await.until("the counter is at " + wanted, STEP_MAX, reached);
    }
}
