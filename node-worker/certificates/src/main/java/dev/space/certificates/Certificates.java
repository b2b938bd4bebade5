package dev.space.certificates;

import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Date;
import java.util.Set;
import org.bouncycastle.asn1.DEROctetString;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.GeneralSubtree;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.asn1.x509.NameConstraints;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/** Signs: what is in a certificate is decided here and nowhere else. */
final class Certificates {

    private static final int SERIAL_BITS = 120;
    private static final int IPV4_RANGE_BYTES = 8;
    private static final int IPV6_RANGE_BYTES = 32;
    private static final SecureRandom RANDOM = new SecureRandom();

    private Certificates() {}

    /** What both kinds have. */
    record Wish(X500Name subject, PublicKey key, Instant from, Instant until) {}

    /**
     * A certificate that may sign others.
     *
     * @param depth authorities below it
     * @param names that it is good for; empty for every name
     */
    static X509Certificate authority(
            Wish wish, X500Name issuer, KeyPair signer, int depth, Set<String> names) {
        try {
            X509v3CertificateBuilder certificate =
                    started(wish, issuer, signer.getPublic())
                            .addExtension(
                                    Extension.basicConstraints, true, new BasicConstraints(depth))
                            .addExtension(
                                    Extension.keyUsage,
                                    true,
                                    new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign));
            if (!names.isEmpty()) {
                certificate.addExtension(Extension.nameConstraints, true, constraints(names));
            }
            return signed(certificate, signer.getPrivate());
        } catch (IOException e) {
            throw new IllegalStateException("extensions have their bytes", e);
        }
    }

    /** A server's, for one name. */
    static X509Certificate leaf(Wish wish, String host, X509Certificate issuer, PrivateKey signer) {
        try {
            X509v3CertificateBuilder certificate =
                    started(wish, Names.subject(issuer), issuer.getPublicKey())
                            .addExtension(
                                    Extension.basicConstraints, true, new BasicConstraints(false))
                            .addExtension(
                                    Extension.keyUsage,
                                    true,
                                    new KeyUsage(KeyUsage.digitalSignature))
                            .addExtension(
                                    Extension.extendedKeyUsage,
                                    false,
                                    new ExtendedKeyUsage(KeyPurposeId.id_kp_serverAuth))
                            .addExtension(
                                    Extension.subjectAlternativeName,
                                    false,
                                    new GeneralNames(new GeneralName(GeneralName.dNSName, host)));
            return signed(certificate, signer);
        } catch (IOException e) {
            throw new IllegalStateException("extensions have their bytes", e);
        }
    }

    private static X509v3CertificateBuilder started(Wish wish, X500Name issuer, PublicKey signer)
            throws IOException {
        JcaX509ExtensionUtils ids;
        try {
            ids = new JcaX509ExtensionUtils();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has SHA-1 for key identifiers", e);
        }
        return new JcaX509v3CertificateBuilder(
                        issuer,
                        new BigInteger(SERIAL_BITS, RANDOM).setBit(SERIAL_BITS),
                        Date.from(wish.from()),
                        Date.from(wish.until()),
                        wish.subject(),
                        wish.key())
                .addExtension(
                        Extension.subjectKeyIdentifier,
                        false,
                        ids.createSubjectKeyIdentifier(wish.key()))
                .addExtension(
                        Extension.authorityKeyIdentifier,
                        false,
                        ids.createAuthorityKeyIdentifier(signer));
    }

    /** These names and those below them; no address at all. */
    private static NameConstraints constraints(Set<String> names) {
        GeneralSubtree[] permitted =
                names.stream()
                        .sorted()
                        .map(n -> new GeneralSubtree(new GeneralName(GeneralName.dNSName, n)))
                        .toArray(GeneralSubtree[]::new);
        return new NameConstraints(
                permitted,
                new GeneralSubtree[] {
                    everyAddress(IPV4_RANGE_BYTES), everyAddress(IPV6_RANGE_BYTES)
                });
    }

    private static GeneralSubtree everyAddress(int bytes) {
        return new GeneralSubtree(
                new GeneralName(GeneralName.iPAddress, new DEROctetString(new byte[bytes])));
    }

    private static X509Certificate signed(X509v3CertificateBuilder certificate, PrivateKey key) {
        try {
            return new JcaX509CertificateConverter()
                    .getCertificate(
                            certificate.build(
                                    new JcaContentSignerBuilder(Keys.SIGNATURE).build(key)));
        } catch (GeneralSecurityException | OperatorCreationException e) {
            throw new IllegalStateException("a certificate cannot be signed: " + e, e);
        }
    }
}
