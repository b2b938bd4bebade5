package dev.space.model.credential;

import java.io.ByteArrayOutputStream;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A private key as people have it in a file: PKCS#8, or PKCS#1 as GitHub gives it. What is thrown
 * never quotes it.
 */
public final class PrivateKeyText {

    private static final Pattern BLOCK =
            Pattern.compile(
                    "-----BEGIN ((?:RSA |EC |ENCRYPTED )?PRIVATE KEY)-----"
                            + "([A-Za-z0-9+/=\\s]++)-----END \\1-----");
    private static final int SEQUENCE = 0x30;
    private static final int OCTETS = 0x04;

    /** Version 0, and the algorithm rsaEncryption without parameters, of a PKCS#8 key. */
    private static final byte[] RSA_HEAD = {
        0x02,
        0x01,
        0x00,
        0x30,
        0x0d,
        0x06,
        0x09,
        0x2a,
        (byte) 0x86,
        0x48,
        (byte) 0x86,
        (byte) 0xf7,
        0x0d,
        0x01,
        0x01,
        0x01,
        0x05,
        0x00
    };

    /** P-256: the order of its group has so many bits. */
    private static final int P256_BITS = 256;

    private PrivateKeyText() {}

    /** For a signature algorithm; IllegalArgumentException with a sentence for people. */
    public static PrivateKey read(String pem, Injection.Jwt.Algorithm algorithm) {
        Matcher block = BLOCK.matcher(pem);
        if (!block.find()) {
            throw new IllegalArgumentException("the value is no private key (PEM)");
        }
        String kind = block.group(1);
        if (kind.startsWith("EC") || kind.startsWith("ENCRYPTED")) {
            throw new IllegalArgumentException(
                    "the private key must be PKCS#8 without a passphrase: openssl pkcs8 -topk8"
                            + " -nocrypt");
        }
        boolean rsa = algorithm == Injection.Jwt.Algorithm.RS256;
        byte[] der = new byte[0];
        try {
            der = Base64.getMimeDecoder().decode(block.group(2));
            if (kind.startsWith("RSA")) {
                der = wrapped(der);
            }
            PrivateKey key =
                    KeyFactory.getInstance(rsa ? "RSA" : "EC")
                            .generatePrivate(new PKCS8EncodedKeySpec(der));
            if (key instanceof ECPrivateKey ec
                    && ec.getParams().getOrder().bitLength() != P256_BITS) {
                throw new IllegalArgumentException("ES256 needs a key on the curve P-256");
            }
            return key;
        } catch (GeneralSecurityException malformed) {
            throw new IllegalArgumentException(
                    "the value is no private key for " + algorithm.name());
        } finally {
            Arrays.fill(der, (byte) 0);
        }
    }

    /** PKCS#1 inside of PKCS#8. */
    private static byte[] wrapped(byte[] rsa) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        content.writeBytes(RSA_HEAD);
        put(content, OCTETS, rsa);
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        put(whole, SEQUENCE, content.toByteArray());
        return whole.toByteArray();
    }

    private static void put(ByteArrayOutputStream out, int tag, byte[] value) {
        out.write(tag);
        if (value.length < 128) {
            out.write(value.length);
        } else if (value.length < 256) {
            out.write(0x81);
            out.write(value.length);
        } else {
            out.write(0x82);
            out.write(value.length >> 8);
            out.write(value.length & 255);
        }
        out.writeBytes(value);
    }
}
