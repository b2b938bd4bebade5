package dev.space.gateway.credential;

import com.google.crypto.tink.HybridDecrypt;
import com.google.crypto.tink.InsecureSecretKeyAccess;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.TinkJsonProtoKeysetFormat;
import com.google.crypto.tink.hybrid.HybridConfig;
import dev.space.model.Secret;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.CredentialGrants;
import dev.space.model.credential.Material;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;

/** Opens what was sealed to this gateway's key, each for the one place that it was sealed for. */
public final class Unsealer {

    private final Optional<HybridDecrypt> key;

    private Unsealer(Optional<HybridDecrypt> key) {
        this.key = key;
    }

    /**
     * With the key of a file.
     *
     * @param keyset none opens nothing
     */
    public static Unsealer open(Optional<Path> keyset) throws IOException {
        if (keyset.isEmpty()) {
            return new Unsealer(Optional.empty());
        }
        String text = Files.readString(keyset.get());
        try {
            HybridConfig.register();
            KeysetHandle handle =
                    TinkJsonProtoKeysetFormat.parseKeyset(text, InsecureSecretKeyAccess.get());
            return new Unsealer(
                    Optional.of(
                            handle.getPrimitive(RegistryConfiguration.get(), HybridDecrypt.class)));
        } catch (GeneralSecurityException e) {
            // Its message could quote the keyset.
            throw new IOException("the keyset in " + keyset.get() + " cannot be used");
        }
    }

    /** Empty when this gateway cannot open it, or it is no secret that a request can carry. */
    Optional<Secret> secret(CredentialGrant grant) {
        if (key.isEmpty() || !(grant.material() instanceof Material.Sealed(String base64))) {
            return Optional.empty();
        }
        try {
            byte[] plain =
                    key.get()
                            .decrypt(
                                    Base64.getDecoder().decode(base64),
                                    grant.sealingContext().getBytes(StandardCharsets.UTF_8));
            try {
                return plain.length == 0 || plain.length > CredentialGrants.SECRET_BYTES_MAX
                        ? Optional.empty()
                        : Optional.of(new Secret(grant.id(), plain));
            } finally {
                Arrays.fill(plain, (byte) 0);
            }
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
