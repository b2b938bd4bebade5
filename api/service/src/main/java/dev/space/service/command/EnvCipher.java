package dev.space.service.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.space.model.ErrorCode;
import dev.space.model.Secret;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.service.config.SecretFiles;
import dev.space.service.config.SpaceConfig;
import dev.space.store.Blob;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Encrypts a session's environment: AES-256-GCM, a random nonce each, bound to the session's id so
 * that one session's row never opens as another's. The plain form exists only in this process and
 * in the call to the node.
 */
@Singleton
public class EnvCipher {
    private static final int KEY_BYTES = 32;
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;
    private static final String TRANSFORMATION = "AES/GCM/NoPadding";

    private final SecretKey key;
    private final ObjectMapper json;
    private final SecureRandom random = new SecureRandom();

    @Inject
    public EnvCipher(SpaceConfig config, ObjectMapper json) {
        this(config.control().envKeyFile(), json);
    }

    EnvCipher(Path keyFile, ObjectMapper json) {
        this.key = key(keyFile);
        this.json = json;
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

    /** Null for an empty environment. */
    public @Nullable Blob encrypt(SessionId session, Map<String, String> env) {
        if (env.isEmpty()) {
            return null;
        }
        byte[] nonce = new byte[NONCE_BYTES];
        random.nextBytes(nonce);
        try {
            byte[] plain = json.writeValueAsBytes(env);
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, session, nonce).doFinal(plain);
            Arrays.fill(plain, (byte) 0);
            return Blob.of(
                    ByteBuffer.allocate(NONCE_BYTES + sealed.length)
                            .put(nonce)
                            .put(sealed)
                            .array());
        } catch (GeneralSecurityException | JsonProcessingException failure) {
            throw new SpaceException(
                    ErrorCode.INTERNAL, "the environment cannot be encrypted", failure);
        }
    }

    /** The environment, or an empty one. */
    public Map<String, String> decrypt(SessionId session, @Nullable Blob sealed) {
        if (sealed == null) {
            return Map.of();
        }
        byte[] bytes = sealed.bytes();
        if (bytes.length < NONCE_BYTES) {
            throw unopened(session, null);
        }
        try {
            Cipher cipher = cipher(Cipher.DECRYPT_MODE, session, Arrays.copyOf(bytes, NONCE_BYTES));
            byte[] plain = cipher.doFinal(bytes, NONCE_BYTES, bytes.length - NONCE_BYTES);
            Map<String, String> env = json.readValue(plain, new TypeReference<>() {});
            Arrays.fill(plain, (byte) 0);
            return env;
        } catch (GeneralSecurityException | IOException failure) {
            throw unopened(session, failure);
        }
    }

    private static SpaceException unopened(SessionId session, @Nullable Exception cause) {
        return new SpaceException(
                ErrorCode.INTERNAL,
                "the environment of session " + session + " does not open with this env key",
                cause);
    }

    private Cipher cipher(int mode, SessionId session, byte[] nonce)
            throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance(TRANSFORMATION);
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(session.value().getBytes(StandardCharsets.US_ASCII));
        return cipher;
    }
}
