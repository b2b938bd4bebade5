package dev.space.gateway.credential;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.Secret;
import dev.space.model.credential.Injection;
import dev.space.model.credential.Injection.Jwt.Algorithm;
import dev.space.model.credential.TokenUrl;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.util.Base64;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is signed, word by word, and that it verifies. */
final class SignedJwtTest {

    private static final long NOW = 1_700_000_000;

    static KeyPair keys(Algorithm algorithm) throws Exception {
        KeyPairGenerator generator =
                KeyPairGenerator.getInstance(algorithm == Algorithm.RS256 ? "RSA" : "EC");
        generator.initialize(algorithm == Algorithm.RS256 ? 2048 : 256);
        return generator.generateKeyPair();
    }

    static String pem(KeyPair keys) {
        return "-----BEGIN PRIVATE KEY-----\n"
                + Base64.getMimeEncoder().encodeToString(keys.getPrivate().getEncoded())
                + "\n-----END PRIVATE KEY-----\n";
    }

    private static String decoded(String part) {
        return new String(Base64.getUrlDecoder().decode(part), UTF_8);
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void anAppsTokenIsAsGitHubWantsIt(Algorithm algorithm) throws Exception {
        KeyPair keys = keys(algorithm);
        Injection.Jwt use = new Injection.Jwt(algorithm, "12345", "", "", "", "", Optional.empty());
        String[] parts;
        try (Secret secret = Secret.ofText("test", pem(keys))) {
            parts = SignedJwt.of(use, secret, NOW).split("\\.", -1);
        }
        assertThat(parts).hasSize(3);
        assertThat(decoded(parts[0])).isEqualTo("{\"alg\":\"" + algorithm + "\",\"typ\":\"JWT\"}");
        assertThat(decoded(parts[1]))
                .isEqualTo("{\"iss\":\"12345\",\"iat\":1699999940,\"exp\":1700000540}");
        Signature verifier =
                Signature.getInstance(
                        algorithm == Algorithm.RS256
                                ? "SHA256withRSA"
                                : "SHA256withECDSAinP1363Format");
        verifier.initVerify(keys.getPublic());
        verifier.update((parts[0] + "." + parts[1]).getBytes(UTF_8));
        assertThat(verifier.verify(Base64.getUrlDecoder().decode(parts[2]))).isTrue();
    }

    @Test
    void anAccountsAssertionIsForItsTokenEndpoint() throws Exception {
        Injection.Jwt use =
                new Injection.Jwt(
                        Algorithm.ES256,
                        "a@b.example",
                        "user \"x\"",
                        "",
                        "read write",
                        "key-1",
                        Optional.of(TokenUrl.of("https://oauth2.example/token")));
        try (Secret secret = Secret.ofText("test", pem(keys(Algorithm.ES256)))) {
            String[] parts = SignedJwt.of(use, secret, NOW).split("\\.", -1);
            assertThat(decoded(parts[0]))
                    .isEqualTo("{\"alg\":\"ES256\",\"typ\":\"JWT\",\"kid\":\"key-1\"}");
            assertThat(decoded(parts[1]))
                    .isEqualTo(
                            "{\"iss\":\"a@b.example\",\"sub\":\"user \\\"x\\\"\","
                                    + "\"aud\":\"https://oauth2.example/token\","
                                    + "\"scope\":\"read write\","
                                    + "\"iat\":1699999940,\"exp\":1700000540}");
        }
    }

    @Test
    void anotherSecretIsNoKey() {
        Injection.Jwt use =
                new Injection.Jwt(Algorithm.RS256, "i", "", "", "", "", Optional.empty());
        try (Secret secret = Secret.ofText("test", "not-a-key-at-all")) {
            assertThatThrownBy(() -> SignedJwt.of(use, secret, NOW))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageNotContaining("not-a-key");
        }
    }
}
