package dev.space.certificates;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.HexFormat;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;

/** How certificates call whom they are for. */
final class Names {

    private static final int FINGERPRINT_BYTES = 4;

    private Names() {}

    static X500Name of(String organisation, String common) {
        X500NameBuilder name =
                new X500NameBuilder(BCStyle.INSTANCE).addRDN(BCStyle.O, organisation);
        return common.isEmpty() ? name.build() : name.addRDN(BCStyle.CN, common).build();
    }

    /** Byte for byte as it is in the certificate: chains are found by it. */
    static X500Name subject(X509Certificate certificate) {
        return X500Name.getInstance(certificate.getSubjectX500Principal().getEncoded());
    }

    /** Tells one installation's root from another's. */
    static String fingerprint(PublicKey key) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(key.getEncoded());
            return HexFormat.of().formatHex(Arrays.copyOf(hash, FINGERPRINT_BYTES));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
