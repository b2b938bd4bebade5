package dev.space.bench.gateway;

import com.google.crypto.tink.HybridEncrypt;
import com.google.crypto.tink.InsecureSecretKeyAccess;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.TinkJsonProtoKeysetFormat;
import com.google.crypto.tink.hybrid.HpkeParameters;
import com.google.crypto.tink.hybrid.HybridConfig;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.CredentialGrants;
import dev.space.model.credential.CredentialUse;
import dev.space.model.credential.GrantedHost;
import dev.space.model.credential.Injection;
import dev.space.model.credential.Material;
import dev.space.model.egress.HostPattern;
import dev.space.model.egress.HttpMatch;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.OptionalLong;

/**
 * The control plane's part: a credential that is put into the authorization header, sealed to the
 * gateway's key.
 *
 * @param keyset the gateway's
 * @param json the grant
 */
record Grant(String keyset, String json) {

    private static final String ID = "crd_aaaaaaaaaaaaaaaaaaaaaaaaaa";
    private static final String SCOPE = "prj_aaaaaaaaaaaaaaaaaaaaaaaaaa";

    static Grant of(String host, int port, String prefix, String value)
            throws GeneralSecurityException {
        HybridConfig.register();
        KeysetHandle keys =
                KeysetHandle.generateNew(
                        HpkeParameters.builder()
                                .setVariant(HpkeParameters.Variant.TINK)
                                .setKemId(HpkeParameters.KemId.DHKEM_X25519_HKDF_SHA256)
                                .setKdfId(HpkeParameters.KdfId.HKDF_SHA256)
                                .setAeadId(HpkeParameters.AeadId.AES_256_GCM)
                                .build());
        CredentialUse use =
                new CredentialUse(
                        List.of(new GrantedHost(HostPattern.of(host), List.of(port))),
                        HttpMatch.ANY,
                        new Injection.Header("authorization", prefix));
        byte[] context =
                CredentialGrant.sealingContext(SCOPE, ID, 1, use).getBytes(StandardCharsets.UTF_8);
        byte[] sealed =
                keys.getPublicKeysetHandle()
                        .getPrimitive(RegistryConfiguration.get(), HybridEncrypt.class)
                        .encrypt(value.getBytes(StandardCharsets.UTF_8), context);
        CredentialGrant grant =
                new CredentialGrant(
                        ID,
                        SCOPE,
                        1,
                        "bench",
                        use,
                        OptionalLong.empty(),
                        new Material.Sealed(Base64.getEncoder().encodeToString(sealed)));
        return new Grant(
                TinkJsonProtoKeysetFormat.serializeKeyset(keys, InsecureSecretKeyAccess.get()),
                new CredentialGrants(List.of(grant)).toJson());
    }

    /** Says nothing of the key. */
    @Override
    public String toString() {
        return "Grant";
    }
}
