package dev.space.app;

import static dev.space.app.SharedPlatform.ok;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.nodeapi.NodeErrors;
import dev.space.vault.OpenBao;
import dev.space.vault.VaultSettings;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An organisation's key in a real OpenBao: rotated, away, revoked, given back, deleted. */
@Timeout(300)
class CustomerKeyIT {
    private static final String ROLE = "space-customer-key";
    private static final String KEY = "/operator/v1/organisations/default/key";
    private static final String[] AS_OPERATOR = {
        "Authorization", "Bearer " + Platform.OPERATOR_KEY
    };

    /** What is promised: a revoked key ends what runs within this. */
    private static final Duration ENDED_MAX = Duration.ofSeconds(60);

    private static final int ASKED_MAX = 5;

    private static @Nullable OpenBao bao;
    private static @Nullable Platform platform;
    private static String policy = "";
    private static Path data = Path.of("");

    @BeforeAll
    static void start(@TempDir Path dir) throws Exception {
        boolean there = Platform.temporalBinary().isPresent() && OpenBao.binary().isPresent();
        if (!there) {
            System.err.println("skipped: set SPACE_TEMPORAL_BIN and SPACE_BAO_BIN");
        }
        Assumptions.assumeTrue(there, "no SPACE_TEMPORAL_BIN or SPACE_BAO_BIN");
        Path policies = Path.of("../../vault-policies");
        policy = Files.readString(policies.resolve(ROLE + ".hcl"));
        data = Files.createDirectories(dir.resolve("platform"));
        bao = OpenBao.start(OpenBao.binary().get(), dir.resolve("bao"), policies);
        platform = new Platform(data, 1, Map.of("space.control.key-watch-every", "1s"));
        bao().call("POST", "/v1/sys/mounts/transit", "{\"type\":\"transit\"}");
    }

    @AfterAll
    static void stop() throws IOException {
        if (platform != null) {
            platform.close();
        }
        if (bao != null) {
            bao.close();
        }
    }

    /** Whatever a test left: the organisation has no key of its own, or a new one of that name. */
    @AfterEach
    void dropKey() {
        p().delete(KEY, AS_OPERATOR);
    }

    @BeforeEach
    void makeKey() throws Exception {
        bao().call("POST", "/v1/transit/keys/space", "{}");
        bao().policy(ROLE, policy);
        bao().role(ROLE, "1h", "24h");
    }

    private static OpenBao bao() {
        return Objects.requireNonNull(bao);
    }

    private static Platform p() {
        return Objects.requireNonNull(platform);
    }

    // ------------------------------------------------------------ the key through the API

    private static HttpResponse<String> put(String path, String body) {
        HttpRequest.Builder request =
                Platform.with(p().request(p().ports.getFirst(), path), AS_OPERATOR)
                        .PUT(HttpRequest.BodyPublishers.ofString(body));
        return p().send(request);
    }

    private static JsonNode show() throws IOException {
        HttpRequest.Builder request =
                Platform.with(p().request(p().ports.getFirst(), KEY), AS_OPERATOR).GET();
        return ok(p().send(request), 200);
    }

    private static String body(String secretId) throws Exception {
        VaultSettings ids = bao().settings(ROLE, bao().port());
        String role = Files.readString(ids.roleIdFile()).strip();
        String secret =
                secretId.isEmpty() ? Files.readString(ids.secretIdFile()).strip() : secretId;
        return ("{\"address\":\"http://127.0.0.1:%d\",\"key\":\"space\",\"id\":\"%s\","
                        + "\"secret\":\"%s\"}")
                .formatted(bao().port(), role, secret);
    }

    private static void awaitKey(String state) throws IOException {
        p().await("the key is " + state, () -> show().get("state").asText().equals(state));
    }

    private static void awaitAllWrapped() throws IOException {
        p().await("all is wrapped", () -> show().get("waiting").asLong() == 0);
    }

    /** As a node does, which asks again where it got no answer. */
    private static ByteString lineageKey(String session) {
        for (int n = 1; ; n++) {
            try {
                return p().link.lineageKey("fake-1", session);
            } catch (StatusRuntimeException failure) {
                ErrorCode code = NodeErrors.toException(failure, "fake-1").code();
                if (code != ErrorCode.NODE_UNREACHABLE || n == ASKED_MAX) {
                    throw failure;
                }
            }
        }
    }

    private static ErrorCode refusal(String session) {
        StatusRuntimeException refused =
                catchThrowableOfType(StatusRuntimeException.class, () -> lineageKey(session));
        return NodeErrors.toException(refused, "fake-1").code();
    }

    private static String kept(String session) throws SQLException {
        try (Connection connection = p().postgres.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row =
                        statement.executeQuery(
                                "SELECT convert_from(substr(key_encrypted, 1, 9), 'LATIN1'),"
                                        + " wrapped_by FROM lineages WHERE id = '"
                                        + session
                                        + "'")) {
            assertThat(row.next()).isTrue();
            return row.getString(2) == null ? "platform" : row.getString(1);
        }
    }

    private static String created() throws IOException {
        return ok(p().post("/v1/sessions", SharedPlatform.DEFAULT), 201).get("id").asText();
    }

    private static JsonNode did(String session, String command, int status) throws IOException {
        return ok(p().post("/v1/sessions/" + session + "/" + command, ""), status);
    }

    private static JsonNode session(String id) throws IOException {
        return ok(p().get("/v1/sessions/" + id), 200);
    }

    private static void destroy(String... sessions) throws IOException {
        for (String id : sessions) {
            ok(p().delete("/v1/sessions/" + id), 200);
        }
    }

    private static boolean runs(String session) {
        SessionId id = new SessionId(session);
        return p().node.node.running().stream().anyMatch(vm -> vm.session().equals(id));
    }

    // ------------------------------------------------------------ tests

    @Test
    void theKeyIsTakenRotatedAndGivenUpWithoutRewritingAnything() throws Exception {
        String id = created();
        ByteString key = lineageKey(id);
        assertThat(kept(id)).isEqualTo("platform");

        JsonNode set = ok(put(KEY, body("")), 200);
        assertThat(set.get("state").asText()).isEqualTo("USABLE");
        awaitAllWrapped();
        assertThat(kept(id)).isEqualTo("vault:v1:");
        assertThat(lineageKey(id)).isEqualTo(key);

        bao().call("POST", "/v1/transit/keys/space/rotate", "{}");
        String second = created();
        ByteString other = lineageKey(second);
        assertThat(kept(second)).as("made under the newest").isEqualTo("vault:v2:");
        assertThat(kept(id)).as("until it is asked for").isEqualTo("vault:v1:");
        ok(p().post(KEY + "/rewrap", "", AS_OPERATOR), 200);
        awaitAllWrapped();
        assertThat(kept(id)).isEqualTo("vault:v2:");
        ok(put(KEY, body("")), 200); // the probe is of the newest version again
        bao().call("POST", "/v1/transit/keys/space/config", "{\"min_decryption_version\":2}");
        assertThat(lineageKey(id)).isEqualTo(key);

        ok(p().delete(KEY, AS_OPERATOR), 200);
        p().await("the platform's key protects it", () -> keptIs(id, "platform"));
        p().await("and the other", () -> keptIs(second, "platform"));
        assertThat(lineageKey(id)).isEqualTo(key);
        assertThat(lineageKey(second)).isEqualTo(other);
        JsonNode none = ok(p().delete(KEY, AS_OPERATOR), 404);
        assertThat(none.get("detail").asText()).contains("no key of its own");
        destroy(id, second);
    }

    private static boolean keptIs(String session, String expected) throws IOException {
        try {
            return kept(session).equals(expected);
        } catch (SQLException failure) {
            throw new IOException(failure);
        }
    }

    @Test
    void aRevokedKeyEndsWhatRunsAndGivingItBackBringsEverythingBack() throws Exception {
        String running = created();
        String paused = created();
        String stored = created();
        ByteString key = lineageKey(running);
        ok(put(KEY, body("")), 200);
        awaitAllWrapped();
        did(running, "checkpoint", 200);
        did(paused, "pause", 200);
        did(stored, "suspend", 200);

        bao().policy(ROLE, "path \"none\" { capabilities = [\"deny\"] }");
        bao().revokeTokens();
        long from = System.nanoTime();
        try {
            p().await("nothing runs", () -> !runs(running) && isFailed(running));
        } catch (AssertionError late) {
            throw new AssertionError(
                    show() + " " + session(running) + " runs: " + runs(running), late);
        }
        Duration took = Duration.ofNanos(System.nanoTime() - from);
        System.out.printf("revoked: ended after %d ms%n", took.toMillis());
        assertThat(took).isLessThan(ENDED_MAX);
        assertThat(session(running).get("reason").get("code").asText()).isEqualTo("KEY_REVOKED");
        assertThat(show().get("state").asText()).isEqualTo("REVOKED");
        assertThat(did(running, "recover", 403).get("code").asText()).isEqualTo("KEY_REVOKED");
        assertThat(did(paused, "resume", 403).get("code").asText()).isEqualTo("KEY_REVOKED");
        assertThat(did(stored, "restore", 403).get("code").asText()).isEqualTo("KEY_REVOKED");
        assertThat(did(paused, "fork", 403).get("code").asText()).isEqualTo("KEY_REVOKED");
        JsonNode refused = ok(p().post("/v1/sessions", SharedPlatform.DEFAULT), 403);
        assertThat(refused.get("code").asText()).isEqualTo("KEY_REVOKED");
        assertThat(session(paused).get("state").asText()).isEqualTo("PAUSED");
        assertThat(session(stored).get("state").asText()).isEqualTo("SUSPENDED");
        assertThat(refusal(paused)).isEqualTo(ErrorCode.KEY_REVOKED);

        bao().policy(ROLE, policy);
        awaitKey("USABLE");
        assertThat(did(running, "recover", 200).get("state").asText()).isEqualTo("RUNNING");
        assertThat(did(paused, "resume", 200).get("state").asText()).isEqualTo("RUNNING");
        assertThat(did(stored, "restore", 200).get("state").asText()).isEqualTo("RUNNING");
        assertThat(lineageKey(running)).isEqualTo(key);
        p().await("it is told", () -> events().contains("REVOKED") && events().contains("USABLE"));
        ok(p().delete(KEY, AS_OPERATOR), 200);
        p().await("the platform's key protects it", () -> keptIs(running, "platform"));
        destroy(running, paused, stored);
    }

    private static boolean isFailed(String session) throws IOException {
        return session(session).get("state").asText().equals("FAILED");
    }

    private static String events() throws IOException {
        return ok(p().get("/v1/audit?limit=200"), 200).toString();
    }

    @Test
    void aKeyServiceThatIsAwayStopsStartsAndNothingThatRuns() throws Exception {
        String running = created();
        ByteString _ = lineageKey(running);
        ok(put(KEY, body("")), 200);
        awaitAllWrapped();

        bao().seal();
        awaitKey("UNREACHABLE");
        JsonNode refused = ok(p().post("/v1/sessions", SharedPlatform.DEFAULT), 503);
        assertThat(refused.get("code").asText()).isEqualTo("KEY_SERVICE_UNAVAILABLE");
        assertThat(refused.toString()).doesNotContain("127.0.0.1");
        assertThat(runs(running)).isTrue();
        assertThat(session(running).get("state").asText()).isEqualTo("RUNNING");
        did(running, "pause", 200);
        assertThat(did(running, "resume", 503).get("code").asText())
                .isEqualTo("KEY_SERVICE_UNAVAILABLE");

        bao().unseal();
        awaitKey("USABLE");
        did(running, "resume", 200);
        ok(p().delete(KEY, AS_OPERATOR), 200);
        p().await("the platform's key protects it", () -> keptIs(running, "platform"));
        destroy(running);
    }

    @Test
    void aKeyThatWasDeletedIsNotReplacedByOneOfItsName() throws Exception {
        String id = created();
        ByteString _ = lineageKey(id);
        ok(put(KEY, body("")), 200);
        awaitAllWrapped();
        did(id, "pause", 200);
        bao().call("POST", "/v1/transit/keys/space/config", "{\"deletion_allowed\":true}");
        bao().call("DELETE", "/v1/transit/keys/space", "");
        awaitKey("REVOKED");
        bao().call("POST", "/v1/transit/keys/space", "{}");
        assertThat(did(id, "resume", 403).get("code").asText()).isEqualTo("KEY_REVOKED");
        assertThat(refusal(id)).isEqualTo(ErrorCode.KEY_REVOKED);
        assertThat(show().get("state").asText()).isEqualTo("REVOKED");

        destroy(id); // to delete is always possible
        ok(put(KEY, body("")), 200); // a key anew is one for what comes now
        String next = created();
        assertThat(lineageKey(next)).isNotNull();
        ok(p().delete(KEY, AS_OPERATOR), 200);
        p().await("the platform's key protects it", () -> keptIs(next, "platform"));
        destroy(next);
    }

    @Test
    void whatCannotBeUsedIsRefusedAndChangesNothing() throws Exception {
        assertThat(ok(put(KEY, body("no-such-secret-id")), 403).get("code").asText())
                .isEqualTo("KEY_REVOKED");
        String far = body("").replace("127.0.0.1", "bao.example.com");
        assertThat(ok(put(KEY, far), 400).get("detail").asText()).contains("in the clear");
        assertThat(
                        ok(put(KEY, "{\"key\":\"space\",\"id\":\"a\",\"secret\":\"b\"}"), 400)
                                .get("detail")
                                .asText())
                .contains("address is needed");
        String closed = body("").replace(":" + bao().port(), ":1");
        assertThat(ok(put(KEY, closed), 503).get("code").asText())
                .isEqualTo("KEY_SERVICE_UNAVAILABLE");
        String elsewhere = KEY.replace("default", "nobody");
        assertThat(ok(put(elsewhere, body("")), 404).get("code").asText()).isEqualTo("NOT_FOUND");
        ok(p().put(KEY, body("").getBytes(UTF_8)), 401);
        ok(p().get(KEY), 401);
        HttpRequest.Builder show =
                Platform.with(p().request(p().ports.getFirst(), KEY), AS_OPERATOR).GET();
        ok(p().send(show), 404);
    }

    private static String rows() throws SQLException {
        try (Connection connection = p().postgres.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row =
                        statement.executeQuery(
                                "SELECT string_agg(k::text || encode(access_sealed, 'escape'), ' ')"
                                        + " FROM customer_keys k")) {
            return row.next() ? row.getString(1) : "";
        }
    }

    @Test
    void whatLogsInIsInNoFileOfThePlatform() throws Exception {
        ok(put(KEY, body("")), 200);
        VaultSettings ids = bao().settings(ROLE, bao().port());
        String second = Files.readString(ids.secretIdFile()).strip();
        String body =
                "{\"address\":\"http://127.0.0.1:%d\",\"key\":\"space\",\"id\":\"%s\",\"secret\":\"%s\"}"
                        .formatted(
                                bao().port(), Files.readString(ids.roleIdFile()).strip(), second);
        JsonNode set = ok(put(KEY, body), 200);
        assertThat(set.toString()).doesNotContain(second);
        assertThat(show().toString()).doesNotContain(second);
        assertThat(rows()).contains("ckey_").doesNotContain(second);
        String id = created();
        assertThat(VaultIT.holding(data, second)).isEmpty();
        assertThat(VaultIT.holding(data, id)).as("the search finds").isNotEmpty();
        destroy(id);
    }
}
