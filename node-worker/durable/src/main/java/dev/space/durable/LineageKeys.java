package dev.space.durable;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.KDF;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * What is derived from one lineage key: a key for each use, so that no two uses meet. HKDF-SHA-256
 * with the lineage's name as salt and the use as info.
 *
 * @param ids names chunks
 * @param nonces makes the nonce of a chunk out of its content
 * @param chunks encrypts chunks
 * @param packs names packs
 * @param manifests encrypts manifests
 */
record LineageKeys(
        SecretKey ids, SecretKey nonces, SecretKey chunks, SecretKey packs, SecretKey manifests) {

    private static final int KEY_BYTES = 32;

    static LineageKeys of(LineageId lineage, LineageKey key) {
        byte[] input = key.bytes();
        try {
            byte[] salt = lineage.value().getBytes(StandardCharsets.US_ASCII);
            return new LineageKeys(
                    derive(input, salt, "HmacSHA256", "space v1 chunk id"),
                    derive(input, salt, "HmacSHA256", "space v1 chunk nonce"),
                    derive(input, salt, "AES", "space v1 chunk"),
                    derive(input, salt, "HmacSHA256", "space v1 pack name"),
                    derive(input, salt, "AES", "space v1 manifest"));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JDK lacks HKDF-SHA256, AES or HMAC", e);
        } finally {
            Arrays.fill(input, (byte) 0);
        }
    }

    private static SecretKey derive(byte[] input, byte[] salt, String algorithm, String use)
            throws GeneralSecurityException {
        var spec =
                HKDFParameterSpec.ofExtract()
                        .addIKM(new SecretKeySpec(input, "Generic"))
                        .addSalt(salt)
                        .thenExpand(use.getBytes(StandardCharsets.US_ASCII), KEY_BYTES);
        return KDF.getInstance("HKDF-SHA256").deriveKey(algorithm, spec);
    }

    @Override
    public String toString() {
        return "LineageKeys";
    }
}
