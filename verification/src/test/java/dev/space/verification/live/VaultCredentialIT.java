package dev.space.verification.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.space.vault.OpenBao;
import dev.space.vault.VaultSettings;
import dev.space.verification.Repository;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A platform whose credentials are in a real OpenBao, and a real guest that uses one. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class VaultCredentialIT {

    private static final Duration STEP_MAX = Duration.ofMinutes(2);
    private static final String POLICY = "{\"allow\":[{\"host\":\"ok.test\",\"private\":true}]}";

    /** Prints the answer, or the error. */
    private static final String CLIENT =
            """
            import ssl, socket
            try:
                s = socket.create_connection(("ok.test", 443), 20)
                s = ssl.create_default_context().wrap_socket(s, server_hostname="ok.test")
                s.sendall(b"GET /a HTTP/1.1\\r\\nHost: ok.test\\r\\nConnection: close\\r\\n\\r\\n")
                got = b""
                while part := s.recv(4096):
                    got += part
                print(got.decode())
            except OSError as e:
                print("error", e)
            """;

    @SuppressWarnings("NullAway.Init") // set before every test
    private EgressServers servers;

    @SuppressWarnings("NullAway.Init") // set before every test
    private OpenBao vault;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Platform platform;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Rest rest;

    private static void demand(boolean there, String why) {
        if (!there) {
            System.err.println("VaultCredentialIT is not run: " + why);
        }
        assumeTrue(there, why);
    }

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        demand(Platform.whyNot().isEmpty(), Platform.whyNot().orElse(""));
        demand(OpenBao.binary().isPresent(), "SPACE_BAO_BIN names no OpenBao");
        servers = new EgressServers();
        vault =
                OpenBao.start(
                        OpenBao.binary().orElseThrow(),
                        directory,
                        Repository.root().resolve("vault-policies"));
        VaultSettings control = vault.settings("space-control", vault.port());
        VaultSettings gateway = vault.settings("space-gateway", vault.port());
        platform =
                Platform.start(
                        Repository.root(),
                        4,
                        """
                        rolling: {disk-seconds: 0, full-seconds: 0}
                            pool: {hot: 0, prepared: 0}
                          egress:
                            resolvers: 127.0.0.1:%d
                            extra-roots: %s
                          credentials:
                            store: vault
                            vault:
                              address: %s
                              control-role-id-file: %s
                              control-secret-id-file: %s
                              gateway-role-id-file: %s
                              gateway-secret-id-file: %s
                        """
                                .formatted(
                                        servers.dnsPort(),
                                        servers.certificate(),
                                        control.address(),
                                        control.roleIdFile(),
                                        control.secretIdFile(),
                                        gateway.roleIdFile(),
                                        gateway.secretIdFile()));
        rest = platform.rest();
    }

    @AfterAll
    void stop() throws IOException {
        if (platform != null) {
            platform.close();
        }
        if (vault != null) {
            vault.close();
        }
        if (servers != null) {
            servers.close();
        }
    }

    private String ask(String session) throws IOException {
        return rest.shell(session, "python3 ask.py");
    }

    private int set(String secret) throws IOException {
        Map<String, Object> injection =
                Map.of("kind", "header", "name", "authorization", "prefix", "Key ");
        Map<String, Object> credential =
                Map.of(
                        "value", secret,
                        "hosts", List.of(Map.of("host", "ok.test")),
                        "injection", injection);
        return rest.insist("PUT", "/v1/credentials/it", credential).demand().status();
    }

    @Test
    void aGuestUsesWhatOnlyTheVaultHas() throws Exception {
        String secret = "it-" + UUID.randomUUID();
        assertThat(set(secret)).isEqualTo(200);
        Map<String, Object> wanted =
                Map.of(
                        "template", Platform.TEMPLATE,
                        "size", Platform.SIZE,
                        "network", new ObjectMapper().readTree(POLICY));
        String id =
                rest.insist("POST", "/v1/sessions?wait=120", wanted)
                        .demand()
                        .json()
                        .path("id")
                        .asText();
        String client = Base64.getEncoder().encodeToString(CLIENT.getBytes(StandardCharsets.UTF_8));
        rest.shell(id, "echo " + client + " | base64 -d >ask.py");
        rest.insist("PUT", "/v1/sessions/" + id + "/grants/it", Map.of()).demand();
        assertThat(ask(id)).contains("200 OK", "served /a for Key ****").doesNotContain(secret);
        assertThat(servers.authorizations.getLast()).isEqualTo("Key " + secret);

        String next = "it-" + UUID.randomUUID();
        assertThat(set(next)).isEqualTo(200);
        Await.until(
                "the new value is used",
                STEP_MAX,
                () -> ask(id).contains("200 OK") && last().equals("Key " + next));

        vault.seal();
        Await.until(
                "what was kept is forgotten",
                STEP_MAX,
                () -> ask(id).contains("CREDENTIAL_STORE_UNAVAILABLE"));
        vault.kill();
        assertThat(ask(id)).contains("503").doesNotContain(next, "127.0.0.1");
        vault.run();
        vault.unseal();
        Await.until("it works again by itself", STEP_MAX, () -> ask(id).contains("200 OK"));
        assertThat(last()).isEqualTo("Key " + next);

        rest.command(id, "pause").demand();
        rest.command(id, "resume").demand();
        assertThat(ask(id)).contains("for Key ****");
        rest.insist("DELETE", "/v1/credentials/it", null).demand();
        Await.until("it is not used any more", STEP_MAX, () -> ask(id).startsWith("error"));
        int before = servers.authorizations.size();
        assertThat(ask(id)).startsWith("error");
        assertThat(servers.authorizations).hasSize(before);
        rest.destroy(id);
    }

    private String last() {
        return servers.authorizations.getLast();
    }
}
