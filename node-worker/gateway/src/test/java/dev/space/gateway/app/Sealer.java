package dev.space.gateway.app;

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
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.OptionalLong;

/** The control plane's part: seals secrets to a gateway's key. */
final class Sealer {

    static final String ID = "crd_aaaaaaaaaaaaaaaaaaaaaaaaaa";
    static final String SCOPE = "prj_aaaaaaaaaaaaaaaaaaaaaaaaaa";

    private final KeysetHandle keys;

    Sealer() throws GeneralSecurityException {
        HybridConfig.register();
        keys =
                KeysetHandle.generateNew(
                        HpkeParameters.builder()
                                .setVariant(HpkeParameters.Variant.TINK)
                                .setKemId(HpkeParameters.KemId.DHKEM_X25519_HKDF_SHA256)
                                .setKdfId(HpkeParameters.KdfId.HKDF_SHA256)
                                .setAeadId(HpkeParameters.AeadId.AES_256_GCM)
                                .build());
    }

    Path keyset(Path file) throws Exception {
        return Files.writeString(
                file,
                TinkJsonProtoKeysetFormat.serializeKeyset(keys, InsecureSecretKeyAccess.get()));
    }

    CredentialGrant grant(String name, String host, int port, Injection injection, String secret)
            throws GeneralSecurityException {
        return grant(name, host, port, HttpMatch.ANY, injection, secret);
    }

    CredentialGrant grant(
            String name, String host, int port, HttpMatch match, Injection injection, String secret)
            throws GeneralSecurityException {
        return grant(
                name,
                new CredentialUse(
                        List.of(new GrantedHost(HostPattern.of(host), List.of(port))),
                        match,
                        injection),
                secret);
    }

    CredentialGrant grant(String name, CredentialUse use, String secret)
            throws GeneralSecurityException {
        byte[] context =
                CredentialGrant.sealingContext(SCOPE, ID, 1, use).getBytes(StandardCharsets.UTF_8);
        byte[] sealed =
                keys.getPublicKeysetHandle()
                        .getPrimitive(RegistryConfiguration.get(), HybridEncrypt.class)
                        .encrypt(secret.getBytes(StandardCharsets.UTF_8), context);
        return new CredentialGrant(
                ID,
                SCOPE,
                1,
                name,
                use,
                OptionalLong.empty(),
                new Material.Sealed(Base64.getEncoder().encodeToString(sealed)));
    }

    static String json(CredentialGrant... grants) {
        return new CredentialGrants(List.of(grants)).toJson();
    }
}
