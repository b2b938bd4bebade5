package dev.space.service.credential;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.space.model.ErrorCode;
import dev.space.model.Secret;
import dev.space.model.SpaceException;
import dev.space.model.credential.CredentialUse;
import dev.space.vault.VaultSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What callers are told of a vault that does not do; with a real one: OpenBaoIT. */
class VaultStoreTest {
    private static final CredentialUse USE =
            CredentialUse.parse(
                    "{\"hosts\":[{\"host\":\"a.example\"}],"
                            + "\"injection\":{\"kind\":\"header\",\"name\":\"x-key\"}}");

    @TempDir Path dir = Path.of("");

    private static int deadPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private SpaceException refusal(Path roleId) throws IOException {
        Path secretId = Files.writeString(dir.resolve("secret-id"), "hidden-secret-id");
        URI address = URI.create("http://127.0.0.1:" + deadPort());
        VaultSettings settings =
                new VaultSettings(address, "space", Optional.empty(), roleId, secretId);
        try (VaultStore store = new VaultStore(settings, "credentials");
                Secret secret = Secret.ofText("test", "hidden-value")) {
            SpaceException told =
                    catchThrowableOfType(
                            SpaceException.class,
                            () -> store.inTurn(() -> store.keep("prj_a", "crd_b", 1, USE, secret)));
            assertThat(told.getMessage())
                    .doesNotContain("hidden")
                    .doesNotContain("127.0.0.1")
                    .doesNotContain(dir.toString());
            return told;
        }
    }

    @Test
    void oneThatDoesNotAnswerIsAskedAgainLater() throws IOException {
        Path roleId = Files.writeString(dir.resolve("role-id"), "hidden-role-id");
        SpaceException told = refusal(roleId);
        assertThat(told.code()).isEqualTo(ErrorCode.CREDENTIAL_STORE_UNAVAILABLE);
        assertThat(told.getMessage()).contains("cannot be connected to").contains("try again");
    }

    @Test
    void idsThatCannotBeReadAreTheOperatorsMatter() throws IOException {
        SpaceException told = refusal(dir.resolve("not-there"));
        assertThat(told.code()).isEqualTo(ErrorCode.CREDENTIAL_STORE_REFUSED);
        assertThat(told.getMessage()).contains("space doctor");
    }
}
