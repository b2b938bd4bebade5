package dev.space.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.model.SessionId;
import dev.space.testkit.FakeNode;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Forks through REST: what each child is, what is told of it, and what is refused. */
class ForkIT extends SharedPlatform {
    private final List<String> made = new ArrayList<>();
    private String source = "";

    @BeforeEach
    void create() throws IOException {
        source =
                path(
                        create(
                                "{\"template\":\"default\",\"labels\":{\"a\":\"1\",\"b\":\"2\"},"
                                        + "\"env\":{\"KEPT\":\"old\",\"LAID\":\"below\"}}"));
    }

    @AfterEach
    void destroy() throws IOException {
        ok(p().delete(source), 200);
        for (String child : made) {
            ok(p().delete(child), 200);
        }
    }

    private JsonNode fork(String body) throws IOException {
        return remembered(ok(p().post(source + "/fork", body), 200));
    }

    private JsonNode remembered(JsonNode fork) {
        fork.get("children").forEach(child -> made.add(path(child)));
        return fork;
    }

    private FakeNode.Vm vm(JsonNode session) {
        return Objects.requireNonNull(p().node.node.vm(id(session)), "no VM");
    }

    @Test
    void eachChildIsASessionOfItsOwn() throws IOException {
        JsonNode fork =
                fork(
                        "{\"count\":3,\"labels\":{\"b\":\"3\"},\"env\":{\"LAID\":\"over\","
                                + "\"NEW\":\"one\"}}");
        String snapshot = fork.get("snapshot").asText();
        JsonNode listed = ok(p().get(source + "/snapshots"), 200).get("snapshots");
        assertThat(listed.findValuesAsText("id")).containsExactly(snapshot);
        assertThat(fork.get("children")).hasSize(3);
        for (JsonNode child : fork.get("children")) {
            assertThat(child.get("state").asText()).isEqualTo("RUNNING");
            assertThat(child.get("creation").asText()).isEqualTo("DONE");
            assertThat(child.has("error")).isFalse();
            JsonNode session = ok(p().get(path(child)), 200);
            assertThat(session.get("forkedFrom").asText()).isEqualTo(id(source));
            assertThat(session.get("epoch").asLong()).isEqualTo(1);
            assertThat(session.get("labels").toString()).isEqualTo("{\"a\":\"1\",\"b\":\"3\"}");
            assertThat(vm(child).source()).hasToString(snapshot);
            String env = exec(path(child));
            assertThat(env).contains("KEPT=old", "LAID=over", "NEW=one");
        }
        assertThat(exec(source)).contains("LAID=below").doesNotContain("NEW=one");
        assertThat(ok(p().get(source), 200).get("epoch").asLong()).isEqualTo(1);
    }

    private static String exec(String session) throws IOException {
        return ok(p().post(session + "/exec", "{\"command\":\"env\"}"), 200).get("stdout").asText();
    }

    private static String id(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    @Test
    void aPausedSourceIsForkedWhereItStandsAndStaysPaused() throws IOException {
        ok(p().post(source + "/checkpoint", "{\"name\":\"before\"}"), 200);
        String before = newest();
        ok(p().post(source + "/pause", ""), 200);

        assertThat(fork("").get("snapshot").asText()).isEqualTo(newest());
        assertThat(fork("{\"snapshot\":\"" + before + "\"}").get("snapshot").asText())
                .isEqualTo(before);
        assertThat(ok(p().get(source), 200).get("state").asText()).isEqualTo("PAUSED");
        ok(p().post(source + "/resume", ""), 200);
    }

    private String newest() throws IOException {
        JsonNode listed = ok(p().get(source + "/snapshots"), 200).get("snapshots");
        return listed.get(0).get("id").asText();
    }

    @Test
    void whoeverDoesNotWaitFindsTheChildrenByTheOperation() throws IOException {
        JsonNode asked = ok(p().post(source + "/fork?wait=0", "{\"count\":2}"), 202);
        assertThat(asked.get("kind").asText()).isEqualTo("FORK");
        String operation = "/v1/operations/" + asked.get("id").asText();
        JsonNode done = ok(p().get(operation + "?wait=30"), 200);
        assertThat(done.get("state").asText()).isEqualTo("DONE");
        assertThat(done.get("children")).hasSize(2);
        remembered(done);
        for (String child : made) {
            awaitState(child, "RUNNING");
        }
    }

    @Test
    void aChildThatFailsIsToldOfBesideOneThatRuns() throws IOException {
        p().node.node.room(p().node.node.running().size() + 1);
        JsonNode children;
        try {
            children = fork("{\"count\":2}").get("children");
        } finally {
            p().node.node.room(Integer.MAX_VALUE);
        }
        assertThat(children.findValuesAsText("creation"))
                .containsExactlyInAnyOrder("DONE", "FAILED");
        JsonNode failed = children.get(children.get(0).has("error") ? 0 : 1);
        assertThat(failed.get("state").asText()).isEqualTo("DESTROYED");
        assertThat(failed.get("error").get("code").asText()).isEqualTo("NO_CAPACITY");
        assertThat(ok(p().get(source), 200).get("state").asText()).isEqualTo("RUNNING");
    }

    @Test
    void theSameKeyIsTheSameForkAndAnotherBodyIsRefused() throws IOException {
        String[] key = {"Idempotency-Key", "fork-" + id(source)};
        JsonNode first = remembered(ok(p().post(source + "/fork", "{\"count\":2}", key), 200));
        JsonNode again = ok(p().post(source + "/fork", "{\"count\":2}", key), 200);
        assertThat(again).isEqualTo(first);
        JsonNode other = ok(p().post(source + "/fork", "{\"count\":3}", key), 422);
        assertThat(other.get("code").asText()).isEqualTo("IDEMPOTENCY_KEY_REUSED");
        JsonNode operations = ok(p().get(source + "/operations"), 200).get("operations");
        assertThat(operations.findValuesAsText("kind")).containsOnlyOnce("FORK");
    }

    @Test
    void badInputIsRefusedBeforeAnything() throws IOException {
        invalid("{\"count\":0}", "count is from 1 to 100");
        invalid("{\"count\":101}", "count is from 1 to 100");
        invalid("{\"count\":\"many\"}", "count");
        invalid("{\"cuont\":1}", "count");
        invalid("{\"env\":{\"1\":\"x\"}}", "env");
        invalid("{\"labels\":{\" \":\"x\"}}", "label");
        invalid("{\"deadline\":{\"afterSeconds\":0}}", "afterSeconds");
        invalid("{\"deadline\":{\"afterSeconds\":9,\"action\":\"explode\"}}", "action");
        refused(source, "{\"snapshot\":\"snp_none\"}", 404, "SNAPSHOT_NOT_FOUND");
        refused("/v1/sessions/" + "ses_" + "a".repeat(26), "{}", 404, "NOT_FOUND");
        assertThat(ok(p().get(source + "/operations"), 200).get("operations")).hasSize(1);
    }

    @Test
    void aSnapshotOfAnotherSessionIsNotFound() throws IOException, SQLException {
        String other = path(create(DEFAULT));
        ok(p().post(other + "/checkpoint", ""), 200);
        JsonNode foreign = ok(p().get(other + "/snapshots"), 200).get("snapshots").get(0);
        refused(
                source,
                "{\"snapshot\":\"" + foreign.get("id").asText() + "\"}",
                404,
                "SNAPSHOT_NOT_FOUND");
        assertThat(
                        value(
                                "SELECT count(*) FROM sessions WHERE origin_session_id = '"
                                        + id(source)
                                        + "'"))
                .isEqualTo("0");
        ok(p().delete(other), 200);
    }

    @Test
    void childrenLiveOnWithoutTheirSource() throws IOException {
        String child = path(fork("{}").get("children").get(0));
        ok(p().delete(source), 200);
        refused(source, "{}", 410, "GONE");
        ok(p().post(child + "/pause", ""), 200);
        ok(p().post(child + "/resume", ""), 200);
        assertThat(exec(child)).contains("KEPT=old");
        assertThat(running(new SessionId(id(child)))).isEqualTo(1);
    }

    @Test
    void aDeadlineOfTheirOwn() throws IOException {
        JsonNode child =
                fork("{\"deadline\":{\"afterSeconds\":900,\"action\":\"destroy\"}}")
                        .get("children")
                        .get(0);
        JsonNode session = ok(p().get(path(child)), 200);
        assertThat(session.get("deadlineAction").asText()).isEqualTo("destroy");
        assertThat(ok(p().get(source), 200).has("deadlineAt")).isFalse();
    }

    private void invalid(String body, String hint) throws IOException {
        JsonNode problem = refused(source, body, 400, "INVALID_ARGUMENT");
        assertThat(problem.get("detail").asText()).contains(hint);
    }

    private static JsonNode refused(String session, String body, int status, String code)
            throws IOException {
        JsonNode problem = ok(p().post(session + "/fork", body), status);
        assertThat(problem.get("code").asText()).isEqualTo(code);
        return problem;
    }
}
