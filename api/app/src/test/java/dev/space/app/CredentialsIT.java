package dev.space.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.model.audit.AuditChain;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.CredentialGrants;
import dev.space.nodeapi.v1.NetworkPolicy;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Credentials through REST and as a session's node hears of them; their secrets nowhere else. */
class CredentialsIT extends SharedPlatform {
    private static final String CANARY = "canary-4711-of-a-credential";
    private static final String USE =
            "\"hosts\":[{\"host\":\"api.example.com\"}],"
                    + "\"injection\":{\"kind\":\"header\",\"name\":\"Authorization\","
                    + "\"prefix\":\"Bearer \"}";

    private static JsonNode put(String path, String body, int status) throws Exception {
        return ok(p().put(path, body.getBytes(UTF_8)), status);
    }

    private static JsonNode set(String name, String value) throws Exception {
        return put("/v1/credentials/" + name, "{\"value\":\"" + value + "\"," + USE + "}", 200);
    }

    private static CredentialGrant told(String id) {
        return CredentialGrants.parse(p().link.network("fake-1", id).getGrants()).all().getFirst();
    }

    @Test
    void aSecretIsSetGrantedRotatedRevokedAndFoundNowhere() throws Exception {
        String credential = "/v1/credentials/first-key";
        JsonNode made = set("first-key", CANARY + "-1");
        assertThat(made.get("version").asLong()).isEqualTo(1);
        assertThat(made.get("injection").get("name").asText()).isEqualTo("authorization");
        assertThat(made.toString()).doesNotContain("canary");
        JsonNode session = create("{\"template\":\"default\",\"network\":{}}");
        String id = session.get("id").asText();
        String grants = path(session) + "/grants";
        JsonNode grant = put(grants + "/first-key", "{\"seconds\":3600}", 200);
        assertThat(grant.get("applied").asBoolean()).isTrue();
        assertThat(Instant.parse(grant.get("expires").asText()))
                .isCloseTo(
                        Instant.now().plusSeconds(3600),
                        org.assertj.core.api.Assertions.within(60, ChronoUnit.SECONDS));
        NetworkPolicy pushed = Objects.requireNonNull(p().node.networks.get(id));
        assertThat(pushed.getVersion()).isEqualTo(2);
        assertThat(pushed.getGrants()).isEqualTo(p().link.network("fake-1", id).getGrants());
        assertThat(p().gatewayKeys.open(told(id))).isEqualTo(CANARY + "-1");

        assertThat(set("first-key", CANARY + "-2").get("sessions").asLong()).isEqualTo(1);
        assertThat(p().gatewayKeys.open(told(id))).isEqualTo(CANARY + "-2");
        assertThat(p().link.network("fake-1", id).getVersion()).isEqualTo(3);
        assertThat(
                        put(path(session) + "/network", "{\"dryRun\":true}", 200)
                                .get("applied")
                                .asBoolean())
                .isTrue();
        assertThat(Objects.requireNonNull(p().node.networks.get(id)).getGrants())
                .as("a change of the policy keeps the grants")
                .isNotEmpty();

        ok(p().post(path(session) + "/pause", ""), 200);
        ok(p().post(path(session) + "/resume", ""), 200);
        assertThat(ok(p().get(grants), 200).get("grants")).hasSize(1);
        String without = child(session, "{}");
        assertThat(ok(p().get(without + "/grants"), 200).get("grants")).isEmpty();
        String with = child(session, "{\"inheritGrants\":true}");
        assertThat(ok(p().get(with + "/grants"), 200).get("grants")).hasSize(1);

        JsonNode left = ok(p().delete(grants + "/first-key"), 200);
        assertThat(left.get("grants")).isEmpty();
        assertThat(left.get("applied").asBoolean()).isTrue();
        assertThat(Objects.requireNonNull(p().node.networks.get(id)).getGrants()).isEmpty();
        ok(p().delete(grants + "/first-key"), 404);
        assertThat(ok(p().get(credential), 200).get("sessions").asLong()).isEqualTo(1);
        ok(p().delete(credential), 200);
        ok(p().get(credential), 404);
        assertThat(ok(p().get(with + "/grants"), 200).get("grants")).isEmpty();
        for (String path : List.of(path(session), with, without)) {
            SecretsIT.foundNowhere(CANARY, path.substring("/v1/sessions/".length()));
            ok(p().delete(path), 200);
        }
        put(grants + "/first-key", "{}", 410);
    }

    private static String child(JsonNode session, String body) throws Exception {
        return path(ok(p().post(path(session) + "/fork", body), 200).get("children").get(0));
    }

    @Test
    void whatWasDoneIsInTheChainSoon() throws Exception {
        String credential = set("chained", CANARY).get("name").asText();
        ok(p().delete("/v1/credentials/" + credential), 200);
        p().await("the chain has it", () -> chained().contains("PROJECT chained"));
        assertThat(chained()).doesNotContain(CANARY);
    }

    /** All of it as text, after it was checked. */
    private static String chained() throws IOException {
        StringBuilder all = new StringBuilder();
        AuditChain chain = null;
        while (true) {
            long after = chain == null ? 0 : chain.position();
            JsonNode page = ok(p().get("/v1/audit?limit=1000&after=" + after), 200);
            if (chain == null) {
                chain = AuditChain.of(page.get("organisation").asText());
            }
            for (JsonNode each : page.get("links")) {
                AuditChain.Link link =
                        new AuditChain.Link(
                                each.get("position").asLong(),
                                each.get("project").asText(),
                                each.get("digest").asText(),
                                each.get("hash").asText());
                assertThat(chain.take(link, null)).isEmpty();
                all.append(each);
            }
            if (page.get("links").isEmpty()) {
                return all.toString();
            }
        }
    }

    @Test
    void aMistakeIsToldWithItsFieldAndWithoutTheSecret() throws Exception {
        String path = "/v1/credentials/mistakes";
        String value = "\"value\":\"" + CANARY + "\",";
        for (String[] wrong :
                new String[][] {
                    {"{" + USE + "}", "exactly one of value"},
                    {"{" + value + "\"valueBase64\":\"QUFB\"," + USE + "}", "exactly one of value"},
                    {"{\"value\":[\"" + CANARY + "\"]," + USE + "}", "value has a wrong type"},
                    {"{\"valueBase64\":\"" + CANARY + "#\"," + USE + "}", "no base64"},
                    {"{\"value\":\"" + CANARY + "\\n\"," + USE + "}", "control character"},
                    {"{\"value\":\"" + CANARY + "ä\"," + USE + "}", "ASCII"},
                    {"{\"value\":\"short\"," + USE + "}", "8 to 16384 bytes"},
                    {"{" + value + "\"x\":1," + USE + "}", "unknown field x"},
                    {"{" + value + USE + ",\"path\":\"/a/../b\"}", "credential.path"},
                    {"{" + value + USE.replace("api.", "1.2.3.4,") + "}", "credential.hosts[0]"},
                    {"{" + value + USE.replace("Authorization", "Host") + "}", "injection"},
                    {"{" + value + "\"expires\":\"2001-01-01T00:00:00Z\"," + USE + "}", "is over"},
                    {"{" + value + "\"scope\":\"all\"," + USE + "}", "scope is project"},
                    {"{" + value + USE, "not valid JSON"},
                    {"{" + value.replace("\",", ",") + USE + "}", "not valid JSON"},
                }) {
            JsonNode problem = put(path, wrong[0], 400);
            assertThat(problem.get("detail").asText()).as(wrong[0]).contains(wrong[1]);
            assertThat(problem.toString()).doesNotContain(CANARY);
        }
        put("/v1/credentials/UPPER", "{" + value + USE + "}", 400);
        ok(p().get(path), 404);
        ok(p().delete(path), 404);
        String session = path(create(DEFAULT));
        put(session + "/grants/mistakes", "{}", 404);
        put(session + "/grants/mistakes", "{\"seconds\":0}", 400);
        put(session + "/grants/mistakes", "{\"seconds\":1,\"expires\":\"x\"}", 400);
        ok(p().delete(session), 200);
        SecretsIT.foundNowhere(CANARY, session.substring("/v1/sessions/".length()));
    }
}
