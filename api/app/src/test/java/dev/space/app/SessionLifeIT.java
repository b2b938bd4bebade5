package dev.space.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** A session's life through REST, with two control planes at once. */
class SessionLifeIT extends SharedPlatform {
    private static final String CANARY = "canary-4711-value";

    @Test
    void livesFromCreateToDestroy() throws Exception {
        JsonNode session = create("{\"template\":\"default\",\"env\":{\"A\":\"" + CANARY + "\"}}");
        String path = "/v1/sessions/" + session.get("id").asText();
        assertThat(session.get("state").asText()).isEqualTo("RUNNING");
        assertThat(session.get("node").asText()).isEqualTo("fake-1");
        JsonNode exec =
                ok(p().post(path + "/exec", "{\"command\":\"env\",\"env\":{\"B\":\"2\"}}"), 200);
        assertThat(exec.get("stdout").asText()).isEqualTo("{A=" + CANARY + ", B=2}");
        assertThat(ok(p().post(path + "/pause", ""), 200).get("state").asText())
                .isEqualTo("PAUSED");
        JsonNode refused = ok(p().post(path + "/exec", "{\"command\":\"env\"}"), 409);
        assertThat(refused.get("code").asText()).isEqualTo("SESSION_PAUSED");
        assertThat(refused.get("state").asText()).isEqualTo("PAUSED");
        assertThat(refused.get("allowed").toString()).contains("resume");
        JsonNode resumed = ok(p().post(path + "/resume", ""), 200);
        assertThat(resumed.get("epoch").asLong()).isEqualTo(2);
        ok(p().put(path + "/files?path=/a%20b", "0123456789".getBytes(UTF_8)), 200);
        assertThat(p().get(path + "/files?path=/a%20b").body()).isEqualTo("0123456789");
        HttpResponse<String> part =
                p().send(
                                p().request(p().ports.getFirst(), path + "/files?path=/a%20b")
                                        .header("Range", "bytes=2-4")
                                        .GET());
        assertThat(part.statusCode()).isEqualTo(206);
        assertThat(part.body()).isEqualTo("234");
        ok(p().get(path + "/files?path=/none"), 404);
        ok(p().post(path + "/checkpoint", "{\"name\":\"before\"}"), 200);
        JsonNode snapshots = ok(p().get(path + "/snapshots"), 200).get("snapshots");
        assertThat(snapshots).hasSize(2);
        assertThat(snapshots.get(0).get("name").asText()).isEqualTo("before");
        ok(p().post(path + "/exec", "{\"argv\":[\"env\"]}"), 200);
        assertThat(ok(p().delete(path), 200).get("state").asText()).isEqualTo("DESTROYED");
        assertThat(ok(p().delete(path), 200).get("state").asText()).isEqualTo("DESTROYED");
        assertThat(ok(p().post(path + "/pause", ""), 410).get("code").asText()).isEqualTo("GONE");
        assertThat(p().node.node.running())
                .noneMatch(vm -> vm.session().value().equals(session.get("id").asText()));
        assertThat(p().log("control-0") + p().log("control-1")).doesNotContain(CANARY);
        assertThat(
                        value(
                                "SELECT count(*) FROM operations WHERE ended_at IS NULL AND session_id = '"
                                        + session.get("id").asText()
                                        + "'"))
                .isEqualTo("0");
    }

    @Test
    void anyInstanceServesAnySession() throws Exception {
        JsonNode session = create("{\"template\":\"default\",\"labels\":{\"who\":\"two\"}}");
        int second = p().ports.get(1);
        String path = "/v1/sessions/" + session.get("id").asText();
        assertThat(ok(p().get(second, path), 200).get("state").asText()).isEqualTo("RUNNING");
        JsonNode list = ok(p().get(second, "/v1/sessions?label=who=two"), 200).get("sessions");
        assertThat(list).hasSize(1);
        p().delete(path);
    }

    @Test
    void sameKeyAnswersTheSameAndAnotherBodyIsRefused() throws Exception {
        String body = "{\"template\":\"default\"}";
        String key = "key-" + System.nanoTime();
        JsonNode first = ok(p().post("/v1/sessions", body, "Idempotency-Key", key), 201);
        JsonNode again = ok(p().post("/v1/sessions", body, "Idempotency-Key", key), 201);
        assertThat(again.get("id")).isEqualTo(first.get("id"));
        JsonNode other =
                ok(
                        p().post(
                                        "/v1/sessions",
                                        "{\"template\":\"default\",\"size\":\"xs\"}",
                                        "Idempotency-Key",
                                        key),
                        422);
        assertThat(other.get("code").asText()).isEqualTo("IDEMPOTENCY_KEY_REUSED");
        p().delete("/v1/sessions/" + first.get("id").asText());
    }

    @Test
    void badInputIsRefusedAndSaysWhy() throws Exception {
        refused("{\"template\":\"defalt\"}", 400, "UNKNOWN_TEMPLATE", "default");
        refused("{\"template\":\"default\",\"size\":\"smal\"}", 400, "UNKNOWN_SIZE", "small");
        refused("{\"templat\":\"default\"}", 400, "INVALID_ARGUMENT", "template");
        refused("{\"template\":\"../../etc\"}", 400, "UNKNOWN_TEMPLATE", "etc");
        refused(
                "{\"template\":\"default\",\"labels\":{\"a b\":\"c\"}}",
                400,
                "INVALID_ARGUMENT",
                "label");
        refused(
                "{\"template\":\"default\",\"env\":{\"1A\":\"c\"}}",
                400,
                "INVALID_ARGUMENT",
                "env");
        refused("{\"template\":", 400, "INVALID_ARGUMENT", "JSON");
        refused("{\"template\":\"" + "x".repeat(2 << 20) + "\"}", 413, "BODY_TOO_LARGE", "bytes");
        refused(
                "{\"template\":\"default\",\"deadline\":{\"afterSeconds\":0}}",
                400,
                "INVALID_ARGUMENT",
                "afterSeconds");
        var noKey =
                p().send(
                                Platform.with(
                                                p().request(p().ports.getFirst(), "/v1/whoami"),
                                                "Authorization",
                                                "Basic x")
                                        .GET());
        assertThat(ok(noKey, 401).get("code").asText()).isEqualTo("UNAUTHENTICATED");
        var wrongKey =
                p().send(
                                Platform.with(
                                                p().request(p().ports.getFirst(), "/v1/whoami"),
                                                "Authorization",
                                                "Bearer space_" + "f".repeat(40))
                                        .GET());
        assertThat(ok(wrongKey, 401).get("code").asText()).isEqualTo("UNAUTHENTICATED");
        ok(p().get("/v1/sessions/ses_" + "a".repeat(26)), 404);
        ok(p().get("/v1/sessions/..%2f..%2fetc"), 404);
        ok(p().get("/v1/nothing"), 404);
    }

    @Test
    void commandNotFoundIsAResult() throws Exception {
        JsonNode session = create("{\"template\":\"default\"}");
        String path = "/v1/sessions/" + session.get("id").asText();
        assertThat(
                        ok(p().post(path + "/exec", "{\"command\":\"no\"}"), 200)
                                .get("exitCode")
                                .asInt())
                .isEqualTo(127);
        assertThat(ok(p().post(path + "/recover", ""), 409).get("code").asText())
                .isEqualTo("NOT_FAILED");
        p().delete(path);
    }

    @Test
    void anotherProjectsSessionIsNotThere() throws Exception {
        JsonNode session = create("{\"template\":\"default\"}");
        String path = "/v1/sessions/" + session.get("id").asText();
        String other = "space_" + "b".repeat(40);
        execute(
                "INSERT INTO projects (id, organisation_id, name) SELECT 'prj_other', id, 'other'"
                        + " FROM organisations");
        execute(
                "INSERT INTO api_keys (id, project_id, name, hash) VALUES ('key_other',"
                        + " 'prj_other', 'other', sha256('"
                        + other
                        + "'))");
        String[] header = {"Authorization", "Bearer " + other};
        int port = p().ports.getFirst();
        ok(p().send(Platform.with(p().request(port, path), header).GET()), 404);
        ok(p().send(Platform.with(p().request(port, path), header).DELETE()), 404);
        ok(p().post(path + "/exec", "{\"command\":\"env\"}", header), 404);
        ok(p().post(path + "/pause", "", header), 404);
        ok(p().get(path), 200);
        p().delete(path);
    }

    @Test
    void autoResumeServesAPausedSession() throws Exception {
        JsonNode session = create("{\"template\":\"default\",\"autoResume\":true}");
        String path = "/v1/sessions/" + session.get("id").asText();
        ok(p().post(path + "/pause", ""), 200);
        List<Callable<Integer>> calls = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            calls.add(() -> p().post(path + "/exec", "{\"command\":\"env\"}").statusCode());
        }
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<Integer> status : threads.invokeAll(calls)) {
                assertThat(status.get()).isEqualTo(200);
            }
        }
        JsonNode resumes = ok(p().get(path + "/operations"), 200).get("operations");
        assertThat(resumes.findValuesAsText("kind")).containsOnlyOnce("RESUME");
        p().delete(path);
    }

    @Test
    void requestedRowOfADeadProcessIsSentAgain() throws Exception {
        JsonNode session = create("{\"template\":\"default\"}");
        String id = session.get("id").asText();
        execute(
                "INSERT INTO operations (id, session_id, kind, state, actor, sent_at) VALUES"
                        + " ('op_"
                        + "c".repeat(26)
                        + "', '"
                        + id
                        + "', 'PAUSE', 'REQUESTED', 'key',"
                        + " now() - interval '1 minute')");
        JsonNode operation = ok(p().get("/v1/operations/op_" + "c".repeat(26) + "?wait=60"), 200);
        assertThat(operation.get("state").asText()).isEqualTo("DONE");
        p().delete("/v1/sessions/" + id);
    }

    @Test
    void documentsItselfAndTellsItsHealth() throws Exception {
        assertThat(p().get("/openapi").body()).contains("3.1").contains("/v1/sessions");
        assertThat(p().get("/docs/").statusCode()).isIn(200, 302);
        assertThat(p().get("/health/live").statusCode()).isEqualTo(200);
        assertThat(p().get("/metrics").body()).contains("jvm_memory");
    }

    @Test
    void manyAtOnce() throws Exception {
        List<Callable<String>> calls = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            int port = p().ports.get(i % 2);
            calls.add(() -> {
                var answer =
                        p().send(
                                        p().request(port, "/v1/sessions")
                                                .POST(
                                                        java.net.http.HttpRequest.BodyPublishers
                                                                .ofString(
                                                                        "{\"template\":\"default\"}")));
                return ok(answer, 201).get("id").asText();
            });
        }
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<String> id : threads.invokeAll(calls)) {
                ok(p().delete("/v1/sessions/" + id.get()), 200);
            }
        }
    }

    private void refused(String body, int status, String code, String hint) throws IOException {
        JsonNode problem = ok(p().post("/v1/sessions", body), status);
        assertThat(problem.get("code").asText()).isEqualTo(code);
        assertThat(problem.get("detail").asText()).contains(hint);
    }
}
