package dev.space.vault;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Trust in the certificates of one file, and in no other. */
final class Roots {

    private Roots() {}

    static SSLContext of(Path file) {
        try (InputStream pem = Files.newInputStream(file)) {
            return of(pem);
        } catch (IOException | GeneralSecurityException unreadable) {
            throw new VaultFailure(
                    VaultFault.MISCONFIGURED, file + " holds no certificates that can be read");
        }
    }

    /** IllegalArgumentException where the text holds none. */
    static SSLContext ofText(String pem) {
        try {
            return of(new ByteArrayInputStream(pem.getBytes(StandardCharsets.UTF_8)));
        } catch (IOException | GeneralSecurityException unreadable) {
            throw new IllegalArgumentException(
                    "the vault's ca holds no certificates that can be read", unreadable);
        }
    }

    private static SSLContext of(InputStream pem) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        int count = 0;
        for (Certificate root : CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
            store.setCertificateEntry("root-" + count, root);
            count++;
        }
        if (count == 0) {
            throw new GeneralSecurityException("none");
        }
        TrustManagerFactory trust =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }
}
