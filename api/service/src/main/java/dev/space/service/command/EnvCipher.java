package dev.space.service.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.service.key.PlatformCipher;
import dev.space.store.Blob;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Encrypts a session's environment, bound to the session's id. The plain form exists only in this
 * process and in the call to the node.
 */
@Singleton
public class EnvCipher {
    private final PlatformCipher cipher;
    private final ObjectMapper json;

    @Inject
    public EnvCipher(PlatformCipher cipher, ObjectMapper json) {
        this.cipher = cipher;
        this.json = json;
    }

    /** Null for an empty environment. */
    public @Nullable Blob encrypt(SessionId session, Map<String, String> env) {
        if (env.isEmpty()) {
            return null;
        }
        try {
            byte[] plain = json.writeValueAsBytes(env);
            try {
                return cipher.seal(session.value(), plain);
            } finally {
                Arrays.fill(plain, (byte) 0);
            }
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
        try {
            byte[] plain = cipher.open(session.value(), sealed);
            Map<String, String> env = json.readValue(plain, new TypeReference<>() {});
            Arrays.fill(plain, (byte) 0);
            return env;
        } catch (GeneralSecurityException | IOException failure) {
            throw unopened(session, failure);
        }
    }

    private static SpaceException unopened(SessionId session, Exception cause) {
        return new SpaceException(
                ErrorCode.INTERNAL,
                "the environment of session " + session + " does not open with this env key",
                cause);
    }
}
