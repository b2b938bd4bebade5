package dev.space.service.credential;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.crypto.tink.HybridDecrypt;
import com.google.crypto.tink.InsecureSecretKeyAccess;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.TinkJsonProtoKeysetFormat;
import com.google.crypto.tink.hybrid.HpkeParameters;
import com.google.crypto.tink.hybrid.HybridConfig;
import dev.space.model.Secret;
import dev.space.model.SpaceException;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.CredentialGrants;
import dev.space.model.credential.CredentialUse;
import dev.space.model.credential.Material;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is sealed opens for a gateway, at its own place only. */
class SealedStoreTest {
    private static final String SCOPE = "prj_" + "a".repeat(26);
    private static final String ID = "crd_" + "b".repeat(26);
    private static final CredentialUse USE = use("api.example.com");

    @TempDir Path dir = Path.of("");

    private static CredentialUse use(String host) {
        return CredentialUse.parse(
                "{\"hosts\":[{\"host\":\""
                        + host
                        + "\"}],\"injection\":{\"kind\":\"header\",\"name\":\"x-key\"}}");
    }

    @BeforeAll
    static void tink() throws GeneralSecurityException {
        HybridConfig.register();
    }

    private static KeysetHandle pair() throws GeneralSecurityException {
        return KeysetHandle.generateNew(
                HpkeParameters.builder()
                        .setVariant(HpkeParameters.Variant.TINK)
                        .setKemId(HpkeParameters.KemId.DHKEM_X25519_HKDF_SHA256)
                        .setKdfId(HpkeParameters.KdfId.HKDF_SHA256)
                        .setAeadId(HpkeParameters.AeadId.AES_256_GCM)
                        .build());
    }

    private SealedStore store(String keyset) throws Exception {
        return new SealedStore(Optional.of(Files.writeString(dir.resolve("keyset"), keyset)));
    }

    @Test
    void onlyTheGatewaysKeyOpensItAndOnlyForTheSameUse() throws Exception {
        KeysetHandle pair = pair();
        SealedStore store =
                store(
                        TinkJsonProtoKeysetFormat.serializeKeysetWithoutSecret(
                                pair.getPublicKeysetHandle()));
        String canary = "canary-" + "x".repeat(CredentialGrants.SECRET_BYTES_MAX - 7);
        Material material;
        try (Secret secret = Secret.ofText("test", canary)) {
            material = store.keep(SCOPE, ID, 3, USE, secret);
        }
        byte[] sealed = Base64.getDecoder().decode(((Material.Sealed) material).base64());
        HybridDecrypt gateway = pair.getPrimitive(RegistryConfiguration.get(), HybridDecrypt.class);
        assertThat(gateway.decrypt(sealed, context(SCOPE, ID, 3, USE)))
                .isEqualTo(canary.getBytes(UTF_8));
        for (byte[] elsewhere :
                new byte[][] {
                    context("prj_" + "c".repeat(26), ID, 3, USE),
                    context(SCOPE, "crd_" + "c".repeat(26), 3, USE),
                    context(SCOPE, ID, 4, USE),
                    context(SCOPE, ID, 3, use("evil.example"))
                }) {
            assertThatThrownBy(() -> gateway.decrypt(sealed, elsewhere))
                    .isInstanceOf(GeneralSecurityException.class);
        }
    }

    private static byte[] context(String scope, String id, long version, CredentialUse use) {
        return CredentialGrant.sealingContext(scope, id, version, use).getBytes(UTF_8);
    }

    @Test
    void aPrivateKeysetEndsTheStartAndIsNotQuoted() throws Exception {
        String secret =
                TinkJsonProtoKeysetFormat.serializeKeyset(pair(), InsecureSecretKeyAccess.get());
        assertThatThrownBy(() -> store(secret))
                .isInstanceOf(SpaceException.class)
                .hasMessageContaining("does not belong to this process")
                .hasNoCause();
    }

    @Test
    void withoutAKeysetThereAreNoCredentials() {
        try (Secret secret = Secret.ofText("test", "canary-value")) {
            assertThatThrownBy(
                            () -> new SealedStore(Optional.empty()).keep(SCOPE, ID, 1, USE, secret))
                    .isInstanceOf(SpaceException.class)
                    .hasMessageContaining("credential-keyset-file")
                    .hasMessageNotContaining("canary");
        }
    }
}
