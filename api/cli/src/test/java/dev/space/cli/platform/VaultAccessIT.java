package dev.space.cli.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.cli.config.SpaceConfig;
import dev.space.vault.OpenBao;
import dev.space.vault.VaultSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What `doctor` and `up` say of a real vault, and of settings that cannot be used. */
@Timeout(120)
class VaultAccessIT {

    @TempDir Path directory = Path.of("");

    private VaultAccess access(String yaml) throws Exception {
        Path file = Files.writeString(directory.resolve("space.yaml"), yaml);
        return VaultAccess.of(SpaceConfig.load(file)).orElseThrow();
    }

    @Test
    void halfOfTheSettingsIsNamed() {
        assertThatThrownBy(() -> access("space.credentials.store: vault\n"))
                .isInstanceOf(PlatformException.class)
                .hasMessageContaining("set space.credentials.vault.address");
        assertThatThrownBy(() ->
                        access("space.credentials.vault.address: http://127.0.0.1:1\n").look())
                .hasMessageContaining("set space.credentials.vault.control-role-id-file too");
    }

    @Test
    void aServerIsTriedAndTheNextStepNamed() throws Exception {
        if (OpenBao.binary().isEmpty()) {
            System.err.println("skipped: set SPACE_BAO_BIN to the bao binary of OpenBao");
        }
        Assumptions.assumeTrue(OpenBao.binary().isPresent(), "no SPACE_BAO_BIN");
        Path policies = Path.of("../../vault-policies");
        try (OpenBao bao = OpenBao.start(OpenBao.binary().get(), directory, policies)) {
            VaultSettings control = bao.settings("space-control", bao.port());
            VaultSettings gateway = bao.settings("space-gateway", bao.port());
            VaultAccess access =
                    access(
                            """
                            space.credentials.store: vault
                            space.credentials.vault:
                              address: %s
                              control-role-id-file: %s
                              control-secret-id-file: %s
                              gateway-role-id-file: %s
                              gateway-secret-id-file: %s
                            """
                                    .formatted(
                                            control.address(),
                                            control.roleIdFile(),
                                            control.secretIdFile(),
                                            gateway.roleIdFile(),
                                            gateway.secretIdFile()));
            assertThat(access.look().faults()).isEmpty();
            bao.policy("space-gateway", Files.readString(policies.resolve("space-control.hcl")));
            assertThat(access.look().faults())
                    .anyMatch(f -> f.contains("space-gateway on space/data/credentials"));
            assertThat(access.look().mend()).contains("vault-policies/README.md");
            Files.setPosixFilePermissions(
                    control.secretIdFile(), PosixFilePermissions.fromString("rw-r--r--"));
            assertThatThrownBy(access::look).hasMessageContaining("chmod 0600");
            Files.setPosixFilePermissions(
                    control.secretIdFile(), PosixFilePermissions.fromString("rw-------"));
            bao.seal();
            assertThat(access.look().faults()).singleElement().asString().contains("sealed");
            assertThat(access.look().mend()).contains("operator unseal");
            bao.kill();
            assertThat(access.look().passing()).isTrue();
            assertThat(access.look().mend()).contains("bao status");
        }
    }
}
