package dev.space.cli.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.crypto.tink.HybridDecrypt;
import com.google.crypto.tink.HybridEncrypt;
import com.google.crypto.tink.InsecureSecretKeyAccess;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.TinkJsonProtoKeysetFormat;
import com.google.crypto.tink.hybrid.HybridConfig;
import dev.space.cli.platform.Users.User;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SecretsTest {

    @TempDir Path data = Path.of("");

    private User me() throws Exception {
        return new User(
                "me",
                (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid"),
                (int) Files.getAttribute(Path.of("/proc/self"), "unix:gid"));
    }

    @Test
    void theKeysForCredentialsAreOnePairOfWhichTheControlPlaneHasThePublicHalf() throws Exception {
        Path directory = data.resolve("secrets");
        String first = Secrets.read(new Secrets(directory, me()).credentialKeyset("gateway", me()));
        Secrets again = new Secrets(directory, me());
        assertThat(Secrets.read(again.credentialKeyset("gateway", me()))).isEqualTo(first);
        assertThat(Secrets.read(again.credentialKeyset("gateway-2", me()))).isEqualTo(first);
        Path open = again.credentialPublicKeyset(me());
        assertThat(Secrets.read(open)).contains("HpkePublicKey").doesNotContain("Private");
        HybridConfig.register();
        byte[] context = {1};
        byte[] sealed =
                TinkJsonProtoKeysetFormat.parseKeysetWithoutSecret(Secrets.read(open))
                        .getPrimitive(RegistryConfiguration.get(), HybridEncrypt.class)
                        .encrypt(new byte[] {7}, context);
        HybridDecrypt gateway =
                TinkJsonProtoKeysetFormat.parseKeyset(first, InsecureSecretKeyAccess.get())
                        .getPrimitive(RegistryConfiguration.get(), HybridDecrypt.class);
        assertThat(gateway.decrypt(sealed, context)).containsExactly(7);
        assertThatThrownBy(() -> gateway.decrypt(sealed, new byte[] {2}))
                .isInstanceOf(GeneralSecurityException.class);
        assertThatThrownBy(() -> TinkJsonProtoKeysetFormat.parseKeysetWithoutSecret(first))
                .as("a private keyset is none that may be read as a public one")
                .isInstanceOf(GeneralSecurityException.class);
    }

    @Test
    void aDamagedKeysetIsToldWithoutItsContent() throws Exception {
        Secrets secrets = new Secrets(data.resolve("secrets"), me());
        Path file = secrets.credentialKeyset("gateway", me()).resolveSibling("credential-keyset");
        Files.writeString(file, "{\"canary\":1}");
        assertThatThrownBy(() -> secrets.credentialPublicKeyset(me()))
                .isInstanceOf(PlatformException.class)
                .hasMessageContaining("from a backup")
                .hasNoCause()
                .hasMessageNotContaining("canary");
    }

    @Test
    void aSecretIsMadeOnceAndItsModeSetRightEachTime() throws Exception {
        Secrets secrets = new Secrets(data.resolve("secrets"), me());
        Path key = secrets.apiKey();
        String first = Secrets.read(key);
        for (String wrong : new String[] {"rw-r--r--", "---------"}) {
            Files.setPosixFilePermissions(key, PosixFilePermissions.fromString(wrong));
            assertThat(new Secrets(data.resolve("secrets"), me()).apiKey()).isEqualTo(key);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(key)))
                    .isEqualTo("rw-------");
        }
        assertThat(Secrets.read(key)).isEqualTo(first).matches("space_[0-9a-f]{40}");
    }
}
