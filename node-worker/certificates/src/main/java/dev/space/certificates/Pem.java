package dev.space.certificates;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Certificates and keys as text. */
public final class Pem {

    private static final Base64.Encoder LINES =
            Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));
    private static final Pattern CERTIFICATE = block("CERTIFICATE");
    private static final Pattern KEY = block("PRIVATE KEY");

    private Pem() {}

    private static Pattern block(String what) {
        return Pattern.compile(
                "-----BEGIN " + what + "-----([A-Za-z0-9+/=\\s]++)-----END " + what + "-----");
    }

    /** All of a text, in their order; comments between them are passed over. */
    public static List<X509Certificate> certificates(String text) throws IOException {
        List<X509Certificate> found = new ArrayList<>();
        try {
            CertificateFactory factory = CertificateFactory.getInstance("X.509");
            Matcher blocks = CERTIFICATE.matcher(text);
            while (blocks.find()) {
                byte[] der = Base64.getMimeDecoder().decode(blocks.group(1));
                found.add(
                        (X509Certificate)
                                factory.generateCertificate(new ByteArrayInputStream(der)));
            }
        } catch (CertificateException | IllegalArgumentException e) {
            throw new IOException("a certificate cannot be read: " + e.getMessage(), e);
        }
        if (found.isEmpty()) {
            throw new IOException("there is no certificate (PEM)");
        }
        return found;
    }

    static PrivateKey key(String text) throws IOException {
        Matcher block = KEY.matcher(text);
        if (!block.find()) {
            throw new IOException("there is no private key (PEM, PKCS#8)");
        }
        try {
            byte[] der = Base64.getMimeDecoder().decode(block.group(1));
            return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(der));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new IOException("the private key cannot be read", e);
        }
    }

    static String of(List<X509Certificate> certificates) {
        StringBuilder text = new StringBuilder();
        try {
            for (X509Certificate certificate : certificates) {
                text.append(of("CERTIFICATE", certificate.getEncoded()));
            }
        } catch (CertificateException e) {
            throw new IllegalStateException("a certificate has its bytes", e);
        }
        return text.toString();
    }

    static String of(PrivateKey key) {
        return of("PRIVATE KEY", key.getEncoded());
    }

    private static String of(String what, byte[] der) {
        return "-----BEGIN "
                + what
                + "-----\n"
                + LINES.encodeToString(der)
                + "\n-----END "
                + what
                + "-----\n";
    }
}
