package dev.space.cli.platform;

import dev.space.cli.config.ConfigKey;
import dev.space.cli.config.SpaceConfig;
import dev.space.vault.VaultFailure;
import dev.space.vault.VaultProbe;
import dev.space.vault.VaultProbe.Role;
import dev.space.vault.VaultSettings;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The vault of the configuration, as root sees it: its settings for both roles, and whether they
 * do.
 */
public final class VaultAccess {

    private static final Set<PosixFilePermission> OWNERS =
            Set.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

    private final SpaceConfig config;

    private VaultAccess(SpaceConfig config) {
        this.config = config;
    }

    /** Empty where none is configured; a PlatformException where half of one is. */
    public static Optional<VaultAccess> of(SpaceConfig config) {
        boolean there = !config.text(ConfigKey.VAULT_ADDRESS).isEmpty();
        if (!there && config.text(ConfigKey.CREDENTIALS_STORE).equals("vault")) {
            throw new PlatformException(
                    ConfigKey.CREDENTIALS_STORE.key()
                            + " is vault: set "
                            + ConfigKey.VAULT_ADDRESS.key()
                            + " and the files of both roles (vault-policies/README.md)");
        }
        return there ? Optional.of(new VaultAccess(config)) : Optional.empty();
    }

    private static ConfigKey roleId(Role role) {
        return role == Role.CONTROL
                ? ConfigKey.VAULT_CONTROL_ROLE_ID_FILE
                : ConfigKey.VAULT_GATEWAY_ROLE_ID_FILE;
    }

    private static ConfigKey secretId(Role role) {
        return role == Role.CONTROL
                ? ConfigKey.VAULT_CONTROL_SECRET_ID_FILE
                : ConfigKey.VAULT_GATEWAY_SECRET_ID_FILE;
    }

    private Path file(ConfigKey key) {
        String file = config.text(key);
        if (file.isEmpty()) {
            throw new PlatformException(
                    ConfigKey.VAULT_ADDRESS.key() + " is set: set " + key.key() + " too");
        }
        return Path.of(file);
    }

    /** File with a role's id. */
    public Path roleIdFile(Role role) {
        return file(roleId(role));
    }

    /** File with its secret id, which nobody but its owner may read. */
    public Path secretIdFile(Role role) {
        Path file = file(secretId(role));
        try {
            if (!OWNERS.containsAll(Files.getPosixFilePermissions(file))) {
                throw new PlatformException(file + " can be read by others: chmod 0600 " + file);
            }
        } catch (IOException e) {
            throw new PlatformException(secretId(role).key() + ": cannot read " + file, e);
        }
        return file;
    }

    /** Checked settings of a role. */
    public VaultSettings settings(Role role) {
        String ca = config.text(ConfigKey.VAULT_CA_FILE);
        try {
            String _ = VaultSettings.checkedName("prefix", prefix());
            return new VaultSettings(
                    URI.create(config.text(ConfigKey.VAULT_ADDRESS)),
                    config.text(ConfigKey.VAULT_MOUNT),
                    ca.isEmpty() ? Optional.empty() : Optional.of(Path.of(ca)),
                    roleIdFile(role),
                    secretIdFile(role));
        } catch (IllegalArgumentException e) {
            throw new PlatformException("space.credentials.vault: " + e.getMessage());
        }
    }

    /** First part of every path. */
    public String prefix() {
        return config.text(ConfigKey.VAULT_PREFIX);
    }

    /**
     * What a try found.
     *
     * @param faults sentences; empty: both roles may do what they must and nothing more
     * @param mend what to do
     * @param passing whether they may go without a change here
     */
    public record Outcome(List<String> faults, String mend, boolean passing) {}

    /** Logs in as both roles and asks what they may do. */
    public Outcome look() {
        List<String> faults = new ArrayList<>();
        for (Role role : Role.values()) {
            try {
                VaultProbe.complaints(settings(role), prefix(), role)
                        .forEach(c -> faults.add(role.policy() + " on " + c));
            } catch (VaultFailure failure) {
                return new Outcome(
                        List.of("as " + role.policy() + ": " + failure.getMessage()),
                        mend(failure),
                        failure.fault().isPassing());
            }
        }
        return new Outcome(
                faults, "load vault-policies/*.hcl as vault-policies/README.md says", false);
    }

    private String mend(VaultFailure failure) {
        String address = config.text(ConfigKey.VAULT_ADDRESS);
        return switch (failure.fault()) {
            case SEALED -> "bao operator unseal -address=" + address;
            case UNREACHABLE, TOO_SLOW, BUSY, FAILING ->
                    "see whether the server runs: bao status -address=" + address;
            case LOGIN_REFUSED, DENIED, ABSENT, FOREIGN, MISCONFIGURED ->
                    "make the roles and their ids anew as vault-policies/README.md says";
        };
    }
}
