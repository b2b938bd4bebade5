package dev.space.service.credential;

import dev.space.model.ErrorCode;
import dev.space.model.Secret;
import dev.space.model.SpaceException;
import dev.space.model.credential.CredentialUse;
import dev.space.model.credential.Material;
import dev.space.service.config.SpaceConfig;
import dev.space.vault.VaultFailure;
import dev.space.vault.VaultSettings;
import io.quarkus.runtime.Startup;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The store that new secrets go to. The other one may be there as well: secrets stay where they
 * were put until they are set anew.
 */
@Singleton
@Startup // Settings that cannot be used end the start, not every request after it.
public class ChosenStore implements CredentialStore {
    private final CredentialStore chosen;
    private final Optional<VaultStore> vault;

    @Inject
    public ChosenStore(SpaceConfig config) {
        this.vault = vault(config.credentials().vault());
        boolean toVault =
                switch (config.credentials().store()) {
                    case "vault" -> true;
                    case "sealed" -> false;
                    default -> throw unusable("space.credentials.store must be sealed or vault");
                };
        if (toVault && vault.isEmpty()) {
            throw unusable("space.credentials.store is vault: set space.credentials.vault.address");
        }
        SealedStore sealed = new SealedStore(config.control().credentialKeysetFile());
        this.chosen = toVault ? vault.get() : sealed;
    }

    private static Optional<VaultStore> vault(SpaceConfig.Vault config) {
        if (config.address().isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    new VaultStore(
                            new VaultSettings(
                                    URI.create(config.address().get()),
                                    config.mount(),
                                    config.caFile(),
                                    needed("role-id-file", config.roleIdFile()),
                                    needed("secret-id-file", config.secretIdFile())),
                            config.prefix()));
        } catch (IllegalArgumentException | VaultFailure wrong) {
            throw unusable("space.credentials.vault: " + wrong.getMessage());
        }
    }

    private static Path needed(String key, Optional<Path> file) {
        return file.orElseThrow(() ->
                unusable("space.credentials.vault.address needs space.credentials.vault." + key));
    }

    private static SpaceException unusable(String detail) {
        return new SpaceException(ErrorCode.INTERNAL, detail);
    }

    @Override
    public Material keep(String scope, String id, long version, CredentialUse use, Secret secret) {
        return chosen.keep(scope, id, version, use, secret);
    }

    @Override
    public <T> T inTurn(Supplier<T> work) {
        return chosen.inTurn(work);
    }

    /** The vault, whether or not new secrets go there. */
    Optional<VaultStore> vault() {
        return vault;
    }

    @PreDestroy
    void close() {
        vault.ifPresent(VaultStore::close);
    }
}
