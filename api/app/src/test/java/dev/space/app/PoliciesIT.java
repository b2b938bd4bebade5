package dev.space.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Deadlines, and a node whose lease is over. */
class PoliciesIT extends SharedPlatform {

    private static String deadline(String action) {
        return "{\"template\":\"default\",\"deadline\":{\"afterSeconds\":3,\"action\":\""
                + action
                + "\"}}";
    }

    @Test
    void aDeadlinePauses() throws Exception {
        JsonNode session = create(deadline("pause"));
        JsonNode paused = awaitState(path(session), "PAUSED");
        assertThat(paused.get("reason").get("code").asText()).isEqualTo("DEADLINE");
        assertThat(running(id(session))).isZero();
        JsonNode resumed = ok(p().post(path(session) + "/resume", ""), 200);
        assertThat(resumed.get("state").asText()).isEqualTo("RUNNING");
        ok(p().delete(path(session)), 200);
    }

    @Test
    void aDeadlineDestroys() throws Exception {
        JsonNode session = create(deadline("destroy"));
        JsonNode gone = awaitState(path(session), "DESTROYED");
        assertThat(gone.get("reason").get("code").asText()).isEqualTo("DEADLINE");
        assertThat(running(id(session))).isZero();
    }

    @Test
    void policiesAreChangedWhileItLives() throws Exception {
        JsonNode session =
                create(
                        "{\"template\":\"default\",\"durability\":{\"everySeconds\":3600},"
                                + "\"idle\":{\"afterSeconds\":600,\"action\":\"suspend\"}}");
        String own = path(session);
        for (String wrong :
                List.of(
                        "{}",
                        "{\"idle\":{}}",
                        "{\"idle\":7}",
                        "{\"idle\":{\"afterSeconds\":9}}",
                        "{\"idle\":{\"after\":60}}",
                        "{\"durability\":{\"everySeconds\":1.5}}",
                        "{\"deadline\":{\"afterSeconds\":0}}",
                        "{\"size\":\"large\"}")) {
            ok(p().patch(own, wrong), 400);
        }
        assertThat(ok(p().get(own), 200).get("idle")).isEqualTo(session.get("idle"));
        JsonNode changed =
                ok(
                        p().patch(
                                        own,
                                        "{\"idle\":{\"afterSeconds\":60},\"autoResume\":true,"
                                                + "\"durability\":null}"),
                        200);
        assertThat(changed.get("idle").get("afterSeconds").asLong()).isEqualTo(60);
        assertThat(changed.get("idle").get("action").asText()).isEqualTo("pause");
        assertThat(changed.has("durabilityPolicy")).isFalse();
        assertThat(changed.get("autoResume").asBoolean()).isTrue();
        assertThat(ok(p().patch(own, "{\"idle\":null}"), 200).has("idle")).isFalse();
        ok(p().patch(own, "{\"deadline\":{\"afterSeconds\":1,\"action\":\"destroy\"}}"), 200);
        awaitState(own, "DESTROYED");
        ok(p().patch(own, "{\"idle\":null}"), 410);
    }

    @Test
    void aDeadlineThatIsTakenBackDoesNothing() throws Exception {
        JsonNode session = create(deadline("destroy"));
        assertThat(ok(p().patch(path(session), "{\"deadline\":null}"), 200).has("deadlineAt"))
                .isFalse();
        JsonNode later = create(deadline("pause"));
        awaitState(path(later), "PAUSED");
        assertThat(ok(p().get(path(session)), 200).get("state").asText()).isEqualTo("RUNNING");
        ok(p().delete(path(session)), 200);
        ok(p().delete(path(later)), 200);
    }

    @Test
    void aNodeThatIsAwayIsShownAndWaitedFor() throws Exception {
        JsonNode session = create(DEFAULT);
        String path = path(session);
        assertThat(session.has("nodeAway")).isFalse();
        p().link.renewing(false);
        p().node.node.reachable(false);
        try {
            p().await("node away", () -> ok(p().get(path), 200).has("nodeAway"));
            assertThat(ok(p().post("/v1/sessions", DEFAULT), 503).get("code").asText())
                    .isEqualTo("NODE_AWAY");
            JsonNode operation = ok(p().post(path + "/pause?wait=0", ""), 202);
            JsonNode waits =
                    ok(p().get("/v1/operations/" + operation.get("id").asText() + "?wait=3"), 200);
            assertThat(waits.get("state").asText()).isEqualTo("ACCEPTED");
            assertThat(running(id(session))).isEqualTo(1);
        } finally {
            p().node.node.reachable(true);
            p().link.renewing(true);
            p().await("node back", () -> !ok(p().get(path), 200).has("nodeAway"));
        }
        awaitState(path, "PAUSED");
        ok(p().post(path + "/resume", ""), 200);
        ok(p().post(path + "/exec", "{\"command\":\"env\"}"), 200);
        ok(p().delete(path), 200);
    }
}
