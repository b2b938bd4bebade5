package dev.space.cli.platform;

import com.google.crypto.tink.InsecureSecretKeyAccess;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.TinkJsonProtoKeysetFormat;
import com.google.crypto.tink.hybrid.HpkeParameters;
import com.google.crypto.tink.hybrid.HybridConfig;
import java.security.GeneralSecurityException;

/**
 * The pair of keys to which credentials are sealed: whoever has the public one can only write, and
 * whoever has the private one, a gateway, can read what it is handed.
 */
final class CredentialKeys {

    private CredentialKeys() {}

    /** A new pair, as the JSON of a keyset. */
    static String makePrivate() {
        try {
            HybridConfig.register();
            HpkeParameters parameters =
                    HpkeParameters.builder()
                            .setVariant(HpkeParameters.Variant.TINK)
                            .setKemId(HpkeParameters.KemId.DHKEM_X25519_HKDF_SHA256)
                            .setKdfId(HpkeParameters.KdfId.HKDF_SHA256)
                            .setAeadId(HpkeParameters.AeadId.AES_256_GCM)
                            .build();
            return TinkJsonProtoKeysetFormat.serializeKeyset(
                    KeysetHandle.generateNew(parameters), InsecureSecretKeyAccess.get());
        } catch (GeneralSecurityException e) {
            throw new PlatformException("the keys for credentials cannot be made", e);
        }
    }

    /** Its public half. */
    static String publicOf(String privateKeyset) {
        try {
            HybridConfig.register();
            return TinkJsonProtoKeysetFormat.serializeKeysetWithoutSecret(
                    TinkJsonProtoKeysetFormat.parseKeyset(
                                    privateKeyset, InsecureSecretKeyAccess.get())
                            .getPublicKeysetHandle());
        } catch (GeneralSecurityException e) {
            // Its message could quote the keyset.
            throw new PlatformException(
                    "the keyset for credentials is damaged: put secrets/credential-keyset back"
                            + " from a backup; without it every credential must be set again");
        }
    }
}
