package dev.space.service.key;

import dev.space.model.ErrorCode;
import dev.space.model.Secret;
import dev.space.model.SpaceException;
import dev.space.service.config.SecretFiles;
import dev.space.service.config.SpaceConfig;
import dev.space.store.Blob;
import io.quarkus.runtime.Startup;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Seals what rows keep secret: AES-256-GCM under the platform's key, a random nonce each, bound to
 * what it is of, so that one row's secret never opens as another's.
 */
@Singleton
@Startup // A key that cannot be read ends the start, not every request after it.
public class PlatformCipher {
    private static final int KEY_BYTES = 32;
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;
    private static final String TRANSFORMATION = "AES/GCM/NoPadding";

    private final SecretKey key;
    private final SecureRandom random = new SecureRandom();

    @Inject
    public PlatformCipher(SpaceConfig config) {
        this(config.control().envKeyFile());
    }

    /** With a key file of its own, for tests of what it seals. */
    public PlatformCipher(Path keyFile) {
        this.key = key(keyFile);
    }

    private static SecretKey key(Path keyFile) {
        try (Secret secret = SecretFiles.read("env key", keyFile)) {
            byte[] bytes = Base64.getDecoder().decode(secret.text());
            if (bytes.length != KEY_BYTES) {
                throw new IllegalArgumentException("length");
            }
            SecretKey key = new SecretKeySpec(bytes, "AES");
            Arrays.fill(bytes, (byte) 0);
            return key;
        } catch (IllegalArgumentException malformed) {
            throw new SpaceException(
                    ErrorCode.INTERNAL,
                    "space.control.env-key-file must hold " + KEY_BYTES + " bytes in base64",
                    malformed);
        }
    }

    /**
     * Seals a secret; the caller wipes the plain form.
     *
     * @param of what it is of: only asked for with the same it opens again
     */
    public Blob seal(String of, byte[] plain) throws GeneralSecurityException {
        byte[] nonce = new byte[NONCE_BYTES];
        random.nextBytes(nonce);
        byte[] sealed = cipher(Cipher.ENCRYPT_MODE, of, nonce).doFinal(plain);
        return Blob.of(
                ByteBuffer.allocate(NONCE_BYTES + sealed.length).put(nonce).put(sealed).array());
    }

    /** The plain form, which the caller wipes. */
    public byte[] open(String of, Blob sealed) throws GeneralSecurityException {
        byte[] bytes = sealed.bytes();
        if (bytes.length < NONCE_BYTES) {
            throw new GeneralSecurityException("too short");
        }
        Cipher cipher = cipher(Cipher.DECRYPT_MODE, of, Arrays.copyOf(bytes, NONCE_BYTES));
        return cipher.doFinal(bytes, NONCE_BYTES, bytes.length - NONCE_BYTES);
    }

    private Cipher cipher(int mode, String of, byte[] nonce) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance(TRANSFORMATION);
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(of.getBytes(StandardCharsets.US_ASCII));
        return cipher;
    }
}
