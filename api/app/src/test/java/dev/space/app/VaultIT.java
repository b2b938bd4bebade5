package dev.space.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.model.Secret;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.CredentialGrants;
import dev.space.model.credential.Material;
import dev.space.vault.OpenBao;
import dev.space.vault.VaultReader;
import dev.space.vault.VaultSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A control plane whose secrets go to a real OpenBao, which is sealed and opened again. */
@Timeout(300)
class VaultIT {
    private static final String CANARY = "canary-4711-in-the-vault";
    private static final String KEY = "/v1/credentials/key";

    @TempDir Path dir = Path.of("");

    private static byte[] body(String value) {
        return ("{\"value\":\"%s\",\"hosts\":[{\"host\":\"api.example.com\"}],"
                        + "\"injection\":{\"kind\":\"header\",\"name\":\"x-key\"}}")
                .formatted(value)
                .getBytes(UTF_8);
    }

    private static String read(VaultReader reader, CredentialGrant grant) {
        Material.Vault place = (Material.Vault) grant.material();
        try (Secret secret = reader.read(place.path(), place.version(), grant.sealingContext())) {
            return secret.text();
        }
    }

    @Test
    void secretsGoToTheVaultAndLeaveIt() throws Exception {
        if (Platform.temporalBinary().isEmpty() || OpenBao.binary().isEmpty()) {
            System.err.println("skipped: set SPACE_TEMPORAL_BIN and SPACE_BAO_BIN");
        }
        Assumptions.assumeTrue(Platform.temporalBinary().isPresent(), "no SPACE_TEMPORAL_BIN");
        Assumptions.assumeTrue(OpenBao.binary().isPresent(), "no SPACE_BAO_BIN");
        Path policies = Path.of("../../vault-policies");
        Path data = Files.createDirectories(dir.resolve("platform"));
        try (OpenBao bao = OpenBao.start(OpenBao.binary().get(), dir.resolve("bao"), policies)) {
            VaultSettings role = bao.settings("space-control", bao.port());
            Map<String, String> settings =
                    Map.of(
                            "space.credentials.store",
                            "vault",
                            "space.credentials.vault.address",
                            role.address().toString(),
                            "space.credentials.vault.role-id-file",
                            role.roleIdFile().toString(),
                            "space.credentials.vault.secret-id-file",
                            role.secretIdFile().toString());
            String session;
            try (Platform platform = new Platform(data, 1, settings);
                    VaultReader reader =
                            new VaultReader(bao.settings("space-gateway", bao.port()))) {
                session = live(platform, bao, reader);
            }
            assertThat(holding(data, CANARY)).isEmpty();
            assertThat(holding(data, session)).as("the search finds").isNotEmpty();
        }
    }

    private static String live(Platform platform, OpenBao bao, VaultReader reader)
            throws Exception {
        JsonNode made = SharedPlatform.ok(platform.put(KEY, body(CANARY + "-1")), 200);
        assertThat(made.toString()).doesNotContain("canary");
        JsonNode session =
                SharedPlatform.ok(
                        platform.post("/v1/sessions", "{\"template\":\"default\",\"network\":{}}"),
                        201);
        String id = session.get("id").asText();
        SharedPlatform.ok(
                platform.put("/v1/sessions/" + id + "/grants/key", "{}".getBytes(UTF_8)), 200);
        CredentialGrant grant = told(platform, id);
        assertThat(read(reader, grant)).isEqualTo(CANARY + "-1");
        SharedPlatform.ok(platform.put(KEY, body(CANARY + "-2")), 200);
        assertThat(read(reader, told(platform, id))).isEqualTo(CANARY + "-2");
        assertThat(rows(platform)).contains("credentials/prj_").doesNotContain("canary");

        bao.seal();
        JsonNode refused = SharedPlatform.ok(platform.put(KEY, body(CANARY + "-3")), 503);
        assertThat(refused.toString())
                .contains("CREDENTIAL_STORE_UNAVAILABLE")
                .contains("sealed")
                .doesNotContain("127.0.0.1");
        assertThat(SharedPlatform.ok(platform.get(KEY), 200).get("version").asLong()).isEqualTo(2);
        SharedPlatform.ok(platform.delete(KEY), 200);
        assertThat(platform.link.network("fake-1", id).getGrants()).isEmpty();
        bao.unseal();
        String entry = "/v1/space/metadata/" + ((Material.Vault) grant.material()).path();
        assertThat(bao.call("GET", entry, "")).contains("current_version\":2");
        platform.await(
                "the entry is destroyed",
                () -> {
                    try {
                        return bao.call("GET", entry, "").contains("\"errors\":[]");
                    } catch (IOException e) {
                        throw e;
                    } catch (Exception e) {
                        throw new IOException(e);
                    }
                });
        SharedPlatform.ok(platform.delete("/v1/sessions/" + id), 200);
        return id;
    }

    private static CredentialGrant told(Platform platform, String id) {
        return CredentialGrants.parse(platform.link.network("fake-1", id).getGrants())
                .all()
                .getFirst();
    }

    private static String rows(Platform platform) throws Exception {
        StringBuilder all = new StringBuilder();
        try (Connection db =
                        DriverManager.getConnection(
                                platform.postgres.getJdbcUrl("postgres", "postgres"));
                Statement statement = db.createStatement();
                ResultSet rows =
                        statement.executeQuery(
                                "SELECT c::text FROM credentials c UNION ALL"
                                        + " SELECT e::text FROM events e")) {
            while (rows.next()) {
                all.append(rows.getString(1)).append('\n');
            }
        }
        return all.toString();
    }

    /** Files of the platform's directory (logs, Temporal's store) with this text. */
    static List<Path> holding(Path data, String text) throws IOException {
        try (Stream<Path> files = Files.walk(data)) {
            return files.filter(Files::isRegularFile)
                    .filter(f -> {
                        try {
                            return Files.readString(f, java.nio.charset.StandardCharsets.ISO_8859_1)
                                    .contains(text);
                        } catch (IOException e) {
                            throw new java.io.UncheckedIOException(e);
                        }
                    })
                    .toList();
        }
    }
}
