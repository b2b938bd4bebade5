package dev.space.service.credential;

import com.google.crypto.tink.HybridEncrypt;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.TinkJsonProtoKeysetFormat;
import com.google.crypto.tink.hybrid.HybridConfig;
import dev.space.model.ErrorCode;
import dev.space.model.Secret;
import dev.space.model.SpaceException;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.CredentialUse;
import dev.space.model.credential.Material;
import dev.space.service.config.SecretFiles;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The store that needs no server: HPKE to the gateways' public key. This process has no key that
 * opens what it sealed, so neither it, nor its rows, nor whoever takes both can.
 */
final class SealedStore implements CredentialStore {
    private final @Nullable HybridEncrypt gateways;

    SealedStore(Optional<Path> keyset) {
        this.gateways = keyset.map(SealedStore::read).orElse(null);
    }

    private static HybridEncrypt read(Path file) {
        try (Secret text = SecretFiles.read("credential keyset", file)) {
            HybridConfig.register();
            return TinkJsonProtoKeysetFormat.parseKeysetWithoutSecret(text.text())
                    .getPrimitive(RegistryConfiguration.get(), HybridEncrypt.class);
        } catch (GeneralSecurityException malformed) {
            // Without its message: were it the private keyset, that could quote it.
            throw new SpaceException(
                    ErrorCode.INTERNAL,
                    "space.control.credential-keyset-file must be the JSON of a public HPKE keyset"
                            + " of Tink: a private one does not belong to this process");
        }
    }

    @Override
    public Material keep(String scope, String id, long version, CredentialUse use, Secret secret) {
        if (gateways == null) {
            throw new SpaceException(
                    ErrorCode.NOT_AVAILABLE,
                    "credentials need space.control.credential-keyset-file");
        }
        byte[] plain = secret.bytes();
        try {
            String context = CredentialGrant.sealingContext(scope, id, version, use);
            byte[] sealed = gateways.encrypt(plain, context.getBytes(StandardCharsets.UTF_8));
            return new Material.Sealed(Base64.getEncoder().encodeToString(sealed));
        } catch (GeneralSecurityException impossible) {
            throw new SpaceException(ErrorCode.INTERNAL, "a secret could not be sealed");
        } finally {
            Arrays.fill(plain, (byte) 0);
        }
    }
}
