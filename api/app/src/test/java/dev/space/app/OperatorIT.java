package dev.space.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The operator reaches the sessions of every project, and nobody else reaches the operator's. */
class OperatorIT extends SharedPlatform {
    private static final String OTHER = "space_" + "d".repeat(40);
    private static final String[] AS_OTHER = {"Authorization", "Bearer " + OTHER};
    private static final String[] AS_OPERATOR = {
        "Authorization", "Bearer " + Platform.OPERATOR_KEY
    };

    @Test
    void pausesAndResumesTheSessionsOfEveryProject() throws Exception {
        execute(
                "INSERT INTO projects (id, organisation_id, name) SELECT 'prj_aaaaaaaaaaaaaaaaaaaaaaaaaa', id,"
                        + " 'operated' FROM organisations");
        execute(
                "INSERT INTO api_keys (id, project_id, name, hash) VALUES ('key_operated',"
                        + " 'prj_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'operated', sha256('"
                        + OTHER
                        + "'))");
        String mine = create("{\"template\":\"default\"}").get("id").asText();
        JsonNode others = ok(p().post("/v1/sessions", "{\"template\":\"default\"}", AS_OTHER), 201);
        for (String id : List.of(mine, others.get("id").asText())) {
            assertThat(listed()).contains(id);
            String path = "/operator/v1/sessions/" + id;
            assertThat(ok(p().post(path + "/pause", "", AS_OPERATOR), 200).get("state").asText())
                    .isEqualTo("PAUSED");
            assertThat(ok(p().post(path + "/resume", "", AS_OPERATOR), 200).get("state").asText())
                    .isEqualTo("RUNNING");
            assertThat(
                            value(
                                    "SELECT actor FROM operations WHERE kind = 'PAUSE' AND session_id = '"
                                            + id
                                            + "'"))
                    .isEqualTo("operator");
        }
        ok(p().delete("/v1/sessions/" + mine), 200);
        ok(p().delete("/v1/sessions/" + others.get("id").asText(), AS_OTHER), 200);
        assertThat(listed()).doesNotContain(mine);
        ok(p().post("/operator/v1/sessions/" + mine + "/pause", "", AS_OPERATOR), 410);
    }

    @Test
    void aNodeThatIsDrainedGetsNothingNew() throws Exception {
        String node = "/operator/v1/nodes/fake-1/";
        ok(p().post(node + "cordon", "", AS_OPERATOR), 200);
        try {
            JsonNode nodes = ok(p().get("/v1/nodes"), 200).get("nodes");
            assertThat(nodes.findValuesAsText("cordoned")).contains("true");
            JsonNode refused = ok(p().post("/v1/sessions", "{\"template\":\"default\"}"), 503);
            assertThat(refused.get("code").asText()).isEqualTo("NO_CAPACITY");
        } finally {
            ok(p().post(node + "uncordon", "", AS_OPERATOR), 200);
        }
        String id = create("{\"template\":\"default\"}").get("id").asText();
        assertThat(
                        ok(
                                        p().post(
                                                        "/operator/v1/sessions/" + id + "/suspend",
                                                        "",
                                                        AS_OPERATOR),
                                        200)
                                .get("state")
                                .asText())
                .isEqualTo("SUSPENDED");
        ok(p().delete("/v1/sessions/" + id), 200);
        ok(p().post("/operator/v1/nodes/nobody/off", "", AS_OPERATOR), 404);
        ok(p().post(node + "off", ""), 401);
    }

    @Test
    void isClosedToEverybodyElse() throws Exception {
        String id = create("{\"template\":\"default\"}").get("id").asText();
        JsonNode refused = ok(p().get("/operator/v1/sessions"), 401);
        assertThat(refused.get("detail").asText()).contains("operator's key");
        ok(p().post("/operator/v1/sessions/" + id + "/pause", ""), 401);
        ok(p().post("/operator/v1/sessions/" + id + "/pause", "", "Authorization", "Bearer "), 401);
        // Neither does the operator's key open what is in a project.
        ok(p().post("/v1/sessions/" + id + "/exec", "{\"command\":\"env\"}", AS_OPERATOR), 401);
        ok(p().delete("/v1/sessions/" + id), 200);
    }

    private static List<String> listed() throws IOException {
        HttpRequest.Builder request =
                Platform.with(
                        p().request(p().ports.getFirst(), "/operator/v1/sessions?limit=200"),
                        AS_OPERATOR);
        return ok(p().send(request.GET()), 200).get("sessions").findValuesAsText("id");
    }
}
