package dev.space.certificates;

import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;

/** The one kind of key that is used: every client knows P-256, and it is made in no time. */
public final class Keys {

    static final String SIGNATURE = "SHA256withECDSA";

    private Keys() {}

    /** A new pair. */
    public static KeyPair generate() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK makes keys on P-256", e);
        }
    }

    static boolean belong(PublicKey open, PrivateKey own) {
        try {
            Signature signer = Signature.getInstance(SIGNATURE);
            signer.initSign(own);
            signer.update((byte) 1);
            byte[] signature = signer.sign();
            signer.initVerify(open);
            signer.update((byte) 1);
            return signer.verify(signature);
        } catch (GeneralSecurityException e) {
            return false;
        }
    }
}
