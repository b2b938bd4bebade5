package dev.space.cli.supervisor;

import dev.space.cli.config.ConfigKey;
import dev.space.cli.platform.Secrets;
import dev.space.cli.platform.Users.User;
import dev.space.cli.platform.VaultAccess;
import dev.space.vault.VaultProbe.Role;
import java.nio.file.Path;

/**
 * What a process needs to use the vault: the address, and its own role's ids as files of its own.
 */
final class VaultFiles {

    private final Layout layout;

    VaultFiles(Layout layout) {
        this.layout = layout;
    }

    /** For the control plane. */
    ProcessConfig control(ProcessConfig settings, User reader) {
        ProcessConfig _ =
                settings.set(
                        ConfigKey.CREDENTIALS_STORE.key(),
                        layout.config().text(ConfigKey.CREDENTIALS_STORE));
        VaultAccess.of(layout.config())
                .ifPresent(access -> {
                    ProcessConfig _ = settings.set(ConfigKey.VAULT_PREFIX.key(), access.prefix());
                    into(settings, "space.credentials.vault.", access, Role.CONTROL, reader);
                });
        return settings;
    }

    /** For a node's gateway. */
    ProcessConfig gateway(ProcessConfig settings, User reader, String gateway) {
        VaultAccess.of(layout.config())
                .ifPresent(access ->
                        into(
                                settings,
                                "space.gateway.vault-",
                                access,
                                Role.GATEWAY,
                                reader,
                                gateway));
        return settings;
    }

    private void into(
            ProcessConfig settings, String keys, VaultAccess access, Role role, User reader) {
        into(settings, keys, access, role, reader, "control");
    }

    private void into(
            ProcessConfig settings,
            String keys,
            VaultAccess access,
            Role role,
            User reader,
            String process) {
        Secrets secrets = layout.secrets();
        var checked = access.settings(role);
        ProcessConfig _ =
                settings.set(keys + "address", checked.address())
                        .set(keys + "mount", checked.mount())
                        .set(
                                keys + "role-id-file",
                                copy(secrets, checked.roleIdFile(), "role-id", process, reader))
                        .set(
                                keys + "secret-id-file",
                                copy(
                                        secrets,
                                        checked.secretIdFile(),
                                        "secret-id",
                                        process,
                                        reader));
        checked.caFile()
                .ifPresent(file -> {
                    ProcessConfig _ =
                            settings.set(
                                    keys + "ca-file", copy(secrets, file, "ca", process, reader));
                });
    }

    private static Path copy(Secrets secrets, Path file, String what, String process, User reader) {
        return secrets.ofVault(file, what + "-" + process, reader);
    }
}
