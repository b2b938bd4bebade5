package dev.space.model.credential;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.credential.Injection.Jwt.Algorithm;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.util.Arrays;
import java.util.Base64;
import org.junit.jupiter.api.Test;

/** Keys as people have them, and the messages about others. */
final class PrivateKeyTextTest {

    private static String pem(String kind, byte[] der) {
        return "-----BEGIN "
                + kind
                + "-----\n"
                + Base64.getMimeEncoder().encodeToString(der)
                + "\n-----END "
                + kind
                + "-----\n";
    }

    private static KeyPair rsa(int bits) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(bits);
        return generator.generateKeyPair();
    }

    private static KeyPair ec(String curve) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(curve));
        return generator.generateKeyPair();
    }

    /** PKCS#1 is what stands inside of PKCS#8, behind 26 bytes for keys of this size. */
    private static byte[] pkcs1(KeyPair keys) {
        byte[] whole = keys.getPrivate().getEncoded();
        return Arrays.copyOfRange(whole, 26, whole.length);
    }

    @Test
    void bothFormsOfAnRsaKeyAreTheSameKey() throws Exception {
        for (int bits : new int[] {2048, 3072}) {
            KeyPair keys = rsa(bits);
            byte[] pkcs8 = keys.getPrivate().getEncoded();
            assertThat(PrivateKeyText.read(pem("PRIVATE KEY", pkcs8), Algorithm.RS256))
                    .isEqualTo(keys.getPrivate());
            String github = pem("RSA PRIVATE KEY", pkcs1(keys));
            assertThat(PrivateKeyText.read(github, Algorithm.RS256)).isEqualTo(keys.getPrivate());
            assertThat(PrivateKeyText.read(github.replace("\n", "\r\n"), Algorithm.RS256))
                    .isEqualTo(keys.getPrivate());
        }
    }

    @Test
    void es256IsP256() throws Exception {
        KeyPair keys = ec("secp256r1");
        String pem = pem("PRIVATE KEY", keys.getPrivate().getEncoded());
        assertThat(PrivateKeyText.read(pem, Algorithm.ES256)).isEqualTo(keys.getPrivate());
        refused(
                pem("PRIVATE KEY", ec("secp384r1").getPrivate().getEncoded()),
                Algorithm.ES256,
                "P-256");
        refused(pem, Algorithm.RS256, "no private key for RS256");
    }

    @Test
    void othersAreToldWhatToDoAndNothingIsQuoted() throws Exception {
        String body = Base64.getEncoder().encodeToString(new byte[48]);
        refused("secret-that-is-no-key", Algorithm.RS256, "no private key (PEM)");
        refused(
                "-----BEGIN PRIVATE KEY-----\n" + body + "\n-----END PRIVATE KEY-----",
                Algorithm.RS256,
                "no private key for RS256");
        for (String kind : new String[] {"EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY"}) {
            refused(pem(kind, new byte[48]), Algorithm.ES256, "openssl pkcs8 -topk8");
        }
        refused(pem("CERTIFICATE", new byte[48]), Algorithm.ES256, "no private key (PEM)");
    }

    private static void refused(String pem, Algorithm algorithm, String why) {
        assertThatThrownBy(() -> PrivateKeyText.read(pem, algorithm))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why)
                .hasMessageNotContaining("secret-that")
                .hasMessageNotContaining("AAAA")
                .hasNoCause();
    }
}
