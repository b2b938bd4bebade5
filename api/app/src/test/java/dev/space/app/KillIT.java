package dev.space.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.model.SessionId;
import dev.space.testkit.FakeNode;
import dev.space.testkit.Held;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** kill -9 in the middle of an operation: it ends as the table says, and nothing happens twice. */
class KillIT extends SharedPlatform {
    private static final Duration ARRIVE = Duration.ofSeconds(30);

    @FunctionalInterface
    interface Blow {
        void strike() throws Exception;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aControlPlaneDiesDuringCreate(int victim) throws Exception {
        createUnder(victim, Held.Point.BEFORE_EFFECT, () -> p().kill("control-" + victim));
        back(victim);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aControlPlaneDiesDuringPause(int victim) throws Exception {
        pauseUnder(victim, Held.Point.AFTER_EFFECT, () -> p().kill("control-" + victim));
        back(victim);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aControlPlaneDiesDuringTheCheckpointOfAFork(int victim) throws Exception {
        forkUnder(victim, "checkpoint", () -> p().kill("control-" + victim));
        back(victim);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aControlPlaneDiesWhileAChildStarts(int victim) throws Exception {
        forkUnder(victim, "start", () -> p().kill("control-" + victim));
        back(victim);
    }

    @Test
    void theWorkflowServerDiesDuringFork() throws Exception {
        forkUnder(0, "checkpoint", KillIT::temporalDies);
    }

    @Test
    void theDatabaseDiesDuringFork() throws Exception {
        forkUnder(0, "checkpoint", KillIT::databaseDies);
    }

    private static void back(int victim) throws IOException {
        p().startAgain("control-" + victim);
        p().awaitControl(victim);
    }

    @ParameterizedTest
    @EnumSource(Held.Point.class)
    void theWorkflowServerDiesDuringCreate(Held.Point point) throws Exception {
        createUnder(0, point, KillIT::temporalDies);
    }

    @ParameterizedTest
    @EnumSource(Held.Point.class)
    void theWorkflowServerDiesDuringPause(Held.Point point) throws Exception {
        pauseUnder(0, point, KillIT::temporalDies);
    }

    private static void temporalDies() throws Exception {
        p().kill("temporal");
        p().startAgain("temporal");
    }

    @ParameterizedTest
    @EnumSource(Held.Point.class)
    void theDatabaseDiesDuringCreate(Held.Point point) throws Exception {
        createUnder(0, point, KillIT::databaseDies);
    }

    @ParameterizedTest
    @EnumSource(Held.Point.class)
    void theDatabaseDiesDuringPause(Held.Point point) throws Exception {
        pauseUnder(0, point, KillIT::databaseDies);
    }

    /** The postmaster and its children, and the same command line again on the same files. */
    private static void databaseDies() throws Exception {
        int port = p().postgres.getPort();
        ProcessHandle postmaster =
                ProcessHandle.allProcesses()
                        .filter(process -> isPostmaster(process, port))
                        .findFirst()
                        .orElseThrow();
        List<String> command = commandLine(postmaster);
        List<ProcessHandle> all = new ArrayList<>(postmaster.descendants().toList());
        all.add(postmaster);
        all.forEach(ProcessHandle::destroyForcibly);
        p().await("PostgreSQL is gone", () -> all.stream().noneMatch(ProcessHandle::isAlive));
        List<String> again = new ArrayList<>();
        if (System.getProperty("user.name").equals("root")) {
            again.addAll(List.of("unshare", "-U")); // it refuses to run as root
        }
        again.addAll(command);
        ProcessBuilder server =
                new ProcessBuilder(again)
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD);
        Process[] last = {server.start()};
        p().await(
                        "PostgreSQL answers",
                        () -> {
                            // It refuses while the kernel still holds what the dead one shared.
                            last[0] = last[0].isAlive() ? last[0] : server.start();
                            return databaseAnswers();
                        });
    }

    private static boolean databaseAnswers() {
        try {
            return value("SELECT 1").equals("1");
        } catch (SQLException notYet) {
            return false;
        }
    }

    private static boolean isPostmaster(ProcessHandle process, int port) {
        try {
            List<String> line = commandLine(process);
            return !line.isEmpty()
                    && line.getFirst().endsWith("postgres")
                    && (line.contains(String.valueOf(port)) || line.contains("port=" + port));
        } catch (UncheckedIOException gone) {
            return false;
        }
    }

    private static List<String> commandLine(ProcessHandle process) {
        try {
            String line = Files.readString(Path.of("/proc/" + process.pid() + "/cmdline"));
            return Arrays.stream(line.split("\0", -1)).filter(word -> !word.isEmpty()).toList();
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }

    // ------------------------------------------------------------ the two operations

    /** The create is sent to one instance; whoever is left must end it. */
    private static void createUnder(int port, Held.Point point, Blow blow) throws Exception {
        String mark = UUID.randomUUID().toString();
        String body = "{\"template\":\"default\",\"labels\":{\"kill\":\"" + mark + "\"}}";
        Held start = p().node.node.hold("start", point);
        CompletableFuture<Integer> call = send(port, "/v1/sessions", body, mark);
        assertThat(start.awaitArrival(ARRIVE)).isTrue();
        blow.strike();
        start.release();
        String session = value("SELECT id FROM sessions WHERE labels->>'kill' = '" + mark + "'");
        assertThat(session).as("the row was committed before its node was called").isNotEmpty();
        String path = "/v1/sessions/" + session;
        int alive = awaitSomeone(path);
        p().await(
                        "created",
                        () ->
                                ok(p().get(alive, path), 200)
                                        .get("state")
                                        .asText()
                                        .equals("RUNNING"));
        var again =
                p().send(
                                Platform.with(
                                                p().request(alive, "/v1/sessions"),
                                                "Idempotency-Key",
                                                mark)
                                        .POST(HttpRequest.BodyPublishers.ofString(body)));
        JsonNode same = ok(again, 201);
        assertThat(same.get("id").asText()).isEqualTo(session);
        assertThat(running(id(same))).isEqualTo(1);
        FakeNode.Vm vm = Objects.requireNonNull(p().node.node.vm(id(same)));
        assertThat(same.get("epoch").asLong()).isEqualTo(vm.start().epoch());
        assertThat(operations(session)).isEqualTo("CREATE DONE");
        ok(
                p().send(
                                p().request(alive, path + "/exec")
                                        .POST(
                                                HttpRequest.BodyPublishers.ofString(
                                                        "{\"command\":\"env\"}"))),
                200);
        ok(p().send(p().request(alive, path).DELETE()), 200);
        assertThat(running(id(same))).isZero();
        assertThat(call).succeedsWithin(2, TimeUnit.MINUTES);
    }

    /** Whoever is left makes each child, and makes it once. */
    private static void forkUnder(int port, String step, Blow blow) throws Exception {
        JsonNode source = create(DEFAULT);
        String path = path(source);
        Held held = p().node.node.hold(step, Held.Point.AFTER_EFFECT);
        CompletableFuture<Integer> call =
                send(port, path + "/fork", "{\"count\":3}", "fork-" + path);
        assertThat(held.awaitArrival(ARRIVE)).isTrue();
        blow.strike();
        held.release();
        int alive = awaitSomeone(path);
        String id = id(source).value();
        String children = " FROM sessions WHERE origin_session_id = '" + id + "'";
        p().await(
                        "three children run",
                        () ->
                                seen("SELECT string_agg(state, ' ')" + children)
                                        .equals("RUNNING RUNNING RUNNING"));
        assertThat(operations(id)).isEqualTo("CREATE DONE, FORK DONE");
        assertThat(p().node.node.snapshots(id(source))).hasSize(1);
        for (String child : value("SELECT string_agg(id, ' ')" + children).split(" ", -1)) {
            assertThat(running(new SessionId(child))).isEqualTo(1);
            ok(p().send(p().request(alive, "/v1/sessions/" + child).DELETE()), 200);
        }
        assertThat(running(id(source))).isEqualTo(1);
        ok(p().send(p().request(alive, path).DELETE()), 200);
        assertThat(call).succeedsWithin(2, TimeUnit.MINUTES);
    }

    /** What cannot be seen now may be seen later. */
    private static String seen(String sql) {
        try {
            return value(sql);
        } catch (SQLException notYet) {
            throw new UncheckedIOException(new IOException(notYet));
        }
    }

    private static void pauseUnder(int port, Held.Point point, Blow blow) throws Exception {
        JsonNode session = create(DEFAULT);
        String path = path(session);
        Held pause = p().node.node.hold("pause", point);
        CompletableFuture<Integer> call = send(port, path + "/pause", "", "pause-" + path);
        assertThat(pause.awaitArrival(ARRIVE)).isTrue();
        blow.strike();
        pause.release();
        int alive = awaitSomeone(path);
        p().await(
                        "paused",
                        () -> {
                            JsonNode now = ok(p().get(alive, path), 200);
                            return now.get("state").asText().equals("PAUSED")
                                    && !now.has("operation");
                        });
        assertThat(operations(id(session).value())).isEqualTo("CREATE DONE, PAUSE DONE");
        assertThat(running(id(session))).isZero();
        assertThat(p().node.node.snapshots(id(session))).hasSize(1);
        JsonNode listed = ok(p().get(alive, path + "/snapshots"), 200).get("snapshots");
        assertThat(listed).hasSize(1);
        ok(
                p().send(
                                p().request(alive, path + "/resume")
                                        .POST(HttpRequest.BodyPublishers.noBody())),
                200);
        ok(p().send(p().request(alive, path).DELETE()), 200);
        assertThat(call).succeedsWithin(2, TimeUnit.MINUTES);
    }

    private static String operations(String session) throws SQLException {
        return value(
                "SELECT string_agg(kind || ' ' || state, ', ' ORDER BY requested_at) FROM"
                        + " operations WHERE session_id = '"
                        + session
                        + "'");
    }

    /** The status, or 0 where the server died before it answered. */
    private static CompletableFuture<Integer> send(int port, String path, String body, String key) {
        return p().http
                .sendAsync(
                        Platform.with(
                                        p().request(p().ports.get(port), path),
                                        "Idempotency-Key",
                                        key)
                                .POST(HttpRequest.BodyPublishers.ofString(body))
                                .build(),
                        java.net.http.HttpResponse.BodyHandlers.discarding())
                .handle((answer, failure) -> failure == null ? answer.statusCode() : 0);
    }

    /** The port of an instance that answers now. */
    private static int awaitSomeone(String path) throws IOException {
        int[] found = new int[1];
        p().await(
                        "a control plane that answers",
                        () -> {
                            for (int port : p().ports) {
                                if (answers(port, path)) {
                                    found[0] = port;
                                    return true;
                                }
                            }
                            return false;
                        });
        return found[0];
    }

    private static boolean answers(int port, String path) {
        try {
            return p().get(port, path).statusCode() == 200;
        } catch (UncheckedIOException dead) {
            return false;
        }
    }
}
