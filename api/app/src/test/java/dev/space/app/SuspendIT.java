package dev.space.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.ByteString;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Suspend and restore through REST, and who gets the key of what is stored. */
class SuspendIT extends SharedPlatform {
    private String id = "";
    private String path = "";

    @BeforeEach
    void create() throws IOException {
        id = create(DEFAULT).get("id").asText();
        path = "/v1/sessions/" + id;
    }

    @AfterEach
    void destroy() throws IOException {
        ok(p().delete(path), 200);
    }

    private JsonNode suspended() throws IOException {
        JsonNode session = ok(p().post(path + "/suspend", ""), 200);
        assertThat(session.get("state").asText()).isEqualTo("SUSPENDED");
        return session;
    }

    @Test
    void whatIsSuspendedIsDurableAndOnNoNode() throws IOException {
        JsonNode session = suspended();
        assertThat(session.has("node")).isFalse();
        assertThat(session.get("durability").asText()).isEqualTo("DURABLE");
        JsonNode snapshot = ok(p().get(path + "/snapshots"), 200).get("snapshots").get(0);
        assertThat(session.get("durable").get("snapshot")).isEqualTo(snapshot.get("id"));
        assertThat(session.get("durable").get("takenAt")).isEqualTo(snapshot.get("takenAt"));
        assertThat(snapshot.get("durability").asText()).isEqualTo("DURABLE");
        assertThat(snapshot.get("stored").get("bytesUploaded").asLong()).isPositive();
        assertThat(snapshot.get("reason").asText()).isEqualTo("PAUSE");
        assertThat(ok(p().post(path + "/suspend", ""), 200).get("state").asText())
                .as("already so")
                .isEqualTo("SUSPENDED");

        p().await("it runs nowhere", () -> !ok(p().get(path), 200).has("runsOn"));
        JsonNode running = ok(p().post(path + "/restore", ""), 200);
        assertThat(running.get("state").asText()).isEqualTo("RUNNING");
        assertThat(running.get("epoch").asLong()).isEqualTo(2);
        assertThat(running.get("node").asText()).isEqualTo("fake-1");
        p().await(
                        "it is seen where it is assigned",
                        () ->
                                ok(p().get(path), 200)
                                        .path("runsOn")
                                        .path("node")
                                        .asText()
                                        .equals("fake-1"));
        assertThat(running.get("durable")).as("what a lost node would leave").isNotNull();
        JsonNode events = ok(p().get(path + "/events"), 200).get("events");
        assertThat(events.findValuesAsText("action")).contains("suspend", "restore");
    }

    @Test
    void aPausedSessionIsSuspendedAndAResumeRestoresIt() throws IOException {
        ok(p().post(path + "/pause", ""), 200);
        suspended();
        assertThat(ok(p().post(path + "/resume", ""), 200).get("state").asText())
                .isEqualTo("RUNNING");
        JsonNode last = ok(p().get(path + "/operations"), 200).get("operations").get(0);
        assertThat(last.get("kind").asText()).isEqualTo("RESTORE");
    }

    @Test
    void callsAreRefusedUnlessTheSessionWakesUpByItself() throws IOException {
        suspended();
        JsonNode refused = ok(p().post(path + "/exec", "{\"command\":\"true\"}"), 409);
        assertThat(refused.get("code").asText()).isEqualTo("SESSION_SUSPENDED");

        String own = path(create("{\"template\":\"default\",\"autoResume\":true}"));
        ok(p().post(own + "/suspend", ""), 200);
        ok(p().post(own + "/exec", "{\"command\":\"echo\"}"), 200);
        assertThat(ok(p().get(own), 200).get("state").asText()).isEqualTo("RUNNING");
        ok(p().delete(own), 200);
    }

    @Test
    void aSuspendedOneIsForkedAndGoesBack() throws IOException {
        String stored = suspended().get("snapshot").asText();
        assertThat(ok(p().delete(path + "/snapshots/" + stored), 409).get("code").asText())
                .as("the session stands on it")
                .isEqualTo("SNAPSHOT_IN_USE");
        JsonNode fork = ok(p().post(path + "/fork", "{\"count\":2}"), 200);
        assertThat(fork.get("snapshot").asText()).isEqualTo(stored);
        for (JsonNode child : fork.get("children")) {
            assertThat(child.get("state").asText()).as(child.toString()).isEqualTo("RUNNING");
            ok(p().delete("/v1/sessions/" + child.get("id").asText()), 200);
        }
        assertThat(ok(p().get(path), 200).get("state").asText()).isEqualTo("SUSPENDED");
        JsonNode back = ok(p().post(path + "/rollback", "{\"snapshot\":\"" + stored + "\"}"), 200);
        assertThat(back.get("state").asText()).isEqualTo("RUNNING");
        assertThat(back.get("durable").get("snapshot").asText()).isEqualTo(stored);
    }

    @Test
    void aSnapshotIsRestoredAsANewSession() throws IOException {
        String stored = suspended().get("snapshot").asText();
        String restore = path + "/snapshots/" + stored + "/restore";
        JsonNode made = ok(p().post(restore, "{\"labels\":{\"as\":\"new\"}}"), 201);
        JsonNode child = made.get("children").get(0);
        String own = "/v1/sessions/" + child.get("id").asText();
        JsonNode session = ok(p().get(own), 200);
        assertThat(session.get("state").asText()).as(made.toString()).isEqualTo("RUNNING");
        assertThat(session.get("labels").get("as").asText()).isEqualTo("new");
        assertThat(path).endsWith(session.get("forkedFrom").asText());
        assertThat(ok(p().get(path), 200).get("state").asText()).isEqualTo("SUSPENDED");
        ok(p().delete(own), 200);
        String unknown = path + "/snapshots/snp_aaaaaaaaaaaaaaaaaaaaaaaaaa/restore";
        assertThat(ok(p().post(unknown, ""), 404).get("code").asText())
                .isEqualTo("SNAPSHOT_NOT_FOUND");
    }

    @Test
    void aCheckpointIsStoredWhileTheSessionRuns() throws IOException {
        JsonNode session = ok(p().post(path + "/checkpoint", "{\"durable\":true}"), 200);
        assertThat(session.get("state").asText()).isEqualTo("RUNNING");
        assertThat(session.get("epoch").asLong()).isEqualTo(1);
        assertThat(session.get("durability").asText()).isEqualTo("DURABLE");
        JsonNode snapshot = ok(p().get(path + "/snapshots"), 200).get("snapshots").get(0);
        assertThat(snapshot.get("durability").asText()).isEqualTo("DURABLE");
        assertThat(snapshot.get("reason").asText()).isEqualTo("CHECKPOINT");
        ok(p().post(path + "/pause", "{\"durable\":true}"), 400);
    }

    @Test
    void policiesAreCheckedAndShown() throws IOException {
        for (String wrong :
                List.of(
                        "\"durability\":{\"everySeconds\":29}",
                        "\"durability\":{}",
                        "\"idle\":{\"afterSeconds\":9}",
                        "\"idle\":{\"afterSeconds\":60,\"action\":\"sleep\"}")) {
            ok(p().post("/v1/sessions", "{\"template\":\"default\"," + wrong + "}"), 400);
        }
        JsonNode session =
                create(
                        "{\"template\":\"default\",\"durability\":{\"everySeconds\":3600},"
                                + "\"idle\":{\"afterSeconds\":600,\"action\":\"suspend\"}}");
        assertThat(session.get("durabilityPolicy").get("everySeconds").asLong()).isEqualTo(3600);
        assertThat(session.get("idle").get("afterSeconds").asLong()).isEqualTo(600);
        assertThat(session.get("idle").get("action").asText()).isEqualTo("suspend");
        ok(p().delete(path(session)), 200);
    }

    @Test
    void whatIsIdleIsPausedThenSuspendedAndWhatIsDueIsStored() throws Exception {
        JsonNode session =
                create(
                        "{\"template\":\"default\",\"durability\":{\"everySeconds\":30},"
                                + "\"idle\":{\"afterSeconds\":10,\"action\":\"suspend\"}}");
        String own = path(session);
        execute(
                "UPDATE sessions SET created_at = now() - interval '1 hour', idle_seconds = 3600"
                        + " WHERE id = '"
                        + session.get("id").asText()
                        + "'");
        p().await("it is stored by its policy", () -> ok(p().get(own), 200).has("durable"));
        assertThat(ok(p().get(own), 200).get("state").asText()).isEqualTo("RUNNING");
        execute(
                "UPDATE sessions SET idle_seconds = 1 WHERE id = '"
                        + session.get("id").asText()
                        + "'");
        p().await(
                        "it is suspended",
                        () -> ok(p().get(own), 200).get("state").asText().equals("SUSPENDED"));
        JsonNode operations = ok(p().get(own + "/operations"), 200).get("operations");
        assertThat(operations.findValuesAsText("kind")).contains("PAUSE", "SUSPEND", "CHECKPOINT");
        ok(p().delete(own), 200);
    }

    @Test
    void theKeyIsOnlyForItsNodeAndIsSealedInItsRow() throws IOException, SQLException {
        ByteString key = p().link.lineageKey("fake-1", id);
        assertThat(key.size()).isEqualTo(32);
        assertThat(p().link.lineageKey("fake-1", id)).as("one for the lineage").isEqualTo(key);
        for (String other : new String[] {"fake-2", "", "it"}) {
            assertThatThrownBy(() -> p().link.lineageKey(other, id))
                    .isInstanceOf(StatusRuntimeException.class);
        }
        String sealed =
                value("SELECT encode(key_encrypted, 'hex') FROM lineages WHERE id = '" + id + "'");
        assertThat(sealed).hasSize(2 * (32 + 12 + 16));
        StringBuilder plain = new StringBuilder();
        key.forEach(b -> plain.append("%02x".formatted(b & 0xff)));
        assertThat(sealed).doesNotContain(plain);

        JsonNode fork = ok(p().post(path + "/fork", "{\"count\":1}"), 200);
        String child = fork.get("children").get(0).get("id").asText();
        assertThat(p().link.lineageKey("fake-1", child)).as("a fork's too").isEqualTo(key);
        ok(p().delete("/v1/sessions/" + child), 200);

        suspended();
        assertThatThrownBy(() -> p().link.lineageKey("fake-1", id))
                .as("it is on no node")
                .isInstanceOf(StatusRuntimeException.class);
    }

    @Test
    void whatIsDestroyedMayBeForgotten() throws IOException, SQLException {
        suspended();
        String mine = " FROM durable_snapshots WHERE session_id = '" + id + "'";
        assertThat(value("SELECT state" + mine)).isEqualTo("COMPLETE");
        ok(p().delete(path), 200);
        assertThat(value("SELECT state" + mine)).isEqualTo("GARBAGE");
        create();
    }
}
