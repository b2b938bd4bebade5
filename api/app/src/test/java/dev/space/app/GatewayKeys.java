package dev.space.app;

import com.google.crypto.tink.HybridDecrypt;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.TinkJsonProtoKeysetFormat;
import com.google.crypto.tink.hybrid.HpkeParameters;
import com.google.crypto.tink.hybrid.HybridConfig;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.Material;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;

/** The keys of the platform's gateways: opens what the control plane sealed. */
final class GatewayKeys {
    private final KeysetHandle pair;

    GatewayKeys() {
        try {
            HybridConfig.register();
            pair =
                    KeysetHandle.generateNew(
                            HpkeParameters.builder()
                                    .setVariant(HpkeParameters.Variant.TINK)
                                    .setKemId(HpkeParameters.KemId.DHKEM_X25519_HKDF_SHA256)
                                    .setKdfId(HpkeParameters.KdfId.HKDF_SHA256)
                                    .setAeadId(HpkeParameters.AeadId.AES_256_GCM)
                                    .build());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    String publicKeyset() {
        try {
            return TinkJsonProtoKeysetFormat.serializeKeysetWithoutSecret(
                    pair.getPublicKeysetHandle());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** As a gateway does. */
    String open(CredentialGrant grant) throws GeneralSecurityException {
        byte[] sealed = Base64.getDecoder().decode(((Material.Sealed) grant.material()).base64());
        byte[] context = grant.sealingContext().getBytes(StandardCharsets.UTF_8);
        return new String(
                pair.getPrimitive(RegistryConfiguration.get(), HybridDecrypt.class)
                        .decrypt(sealed, context),
                StandardCharsets.UTF_8);
    }
}
