package dev.space.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.nodeapi.v1.AuditRecord;
import dev.space.nodeapi.v1.NetworkPolicy;
import io.grpc.StatusRuntimeException;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What a session may reach, through REST and as its node hears of it. */
class NetworkIT extends SharedPlatform {
    private static final String POLICY = "{\"allow\":[{\"host\":\"a.example\"}]}";

    private JsonNode put(String path, String body, int status) throws Exception {
        return ok(p().put(path + "/network", body.getBytes(UTF_8)), status);
    }

    @Test
    void aPolicyIsSetAtCreationChangedWhileItRunsAndKeptByForks() throws Exception {
        JsonNode session = create("{\"template\":\"default\",\"network\":" + POLICY + "}");
        String id = session.get("id").asText();
        String path = "/v1/sessions/" + id;
        JsonNode first = ok(p().get(path + "/network"), 200);
        assertThat(first.get("version").asLong()).isEqualTo(1);
        assertThat(first.get("policy").get("allow").get(0).get("host").asText())
                .isEqualTo("a.example");
        assertThat(p().link.network("fake-1", id).getPolicy()).contains("a.example");
        assertThatThrownBy(() -> p().link.network("fake-2", id))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessageContaining("is not on node fake-2");

        JsonNode changed = put(path, "{\"allow\":[{\"host\":\"b.example\"}]}", 200);
        assertThat(changed.get("version").asLong()).isEqualTo(2);
        assertThat(changed.get("applied").asBoolean()).isTrue();
        NetworkPolicy told = Objects.requireNonNull(p().node.networks.get(id));
        assertThat(told.getVersion()).isEqualTo(2);
        assertThat(told.getPolicy()).contains("b.example");

        ok(p().post(path + "/pause", ""), 200);
        JsonNode paused = put(path, "{}", 200);
        assertThat(paused.get("version").asLong()).isEqualTo(3);
        assertThat(paused.has("applied")).as("nobody to be told").isFalse();
        put(path, POLICY, 200);
        ok(p().post(path + "/resume", ""), 200);
        JsonNode fork = ok(p().post(path + "/fork", "{}"), 200);
        String child = fork.get("children").get(0).get("id").asText();
        JsonNode kept = ok(p().get("/v1/sessions/" + child + "/network"), 200);
        assertThat(kept.get("version").asLong()).isEqualTo(1);
        assertThat(kept.get("policy").toString()).contains("a.example");
        ok(p().delete("/v1/sessions/" + child), 200);
        ok(p().delete(path), 200);
        put(path, "{}", 410);
    }

    @Test
    void aSessionWithoutOneHasNoneAndMistakesAreNamed() throws Exception {
        JsonNode session = create("{\"template\":\"default\"}");
        String id = session.get("id").asText();
        String path = "/v1/sessions/" + id;
        JsonNode none = ok(p().get(path + "/network"), 200);
        assertThat(none.get("version").asLong()).isZero();
        assertThat(none.has("policy")).isFalse();
        assertThat(p().link.network("fake-1", id).getPolicy()).isEmpty();
        JsonNode wrong = put(path, "{\"allow\":[{\"host\":\"a b\"}]}", 400);
        assertThat(wrong.get("detail").asText()).contains("network.allow[0].host");
        put(path, "{\"allowed\":[]}", 400);
        JsonNode created =
                ok(
                        p().post(
                                        "/v1/sessions",
                                        "{\"template\":\"default\",\"network\":{\"allow\":[{}]}}"),
                        400);
        assertThat(created.get("detail").asText()).contains("network.allow[0]");
        String other = id.substring(0, id.length() - 1) + (id.endsWith("a") ? "e" : "a");
        ok(p().get("/v1/sessions/" + other + "/network"), 404);
        ok(p().delete(path), 200);
    }

    @Test
    void whatTheGatewayRecordedIsTheLogNewestFirst() throws Exception {
        JsonNode session = create("{\"template\":\"default\",\"network\":{}}");
        String id = session.get("id").asText();
        for (int i = 0; i < 3; i++) {
            p().link
                    .audited(
                            id,
                            AuditRecord.newBuilder()
                                    .setActor("gateway")
                                    .setAction("egress.tls")
                                    .setObject("x" + i + ".example:443")
                                    .setOutcome("deny")
                                    .setDetail("no_rule"));
        }
        JsonNode log = ok(p().get("/v1/sessions/" + id + "/network/log?limit=2"), 200);
        assertThat(log.get("entries")).hasSize(2);
        JsonNode newest = log.get("entries").get(0);
        assertThat(newest.get("target").asText()).isEqualTo("x2.example:443");
        assertThat(newest.get("kind").asText()).isEqualTo("tls");
        assertThat(newest.get("verdict").asText()).isEqualTo("deny");
        assertThat(newest.get("detail").asText()).isEqualTo("no_rule");
        ok(p().delete("/v1/sessions/" + id), 200);
    }
}
