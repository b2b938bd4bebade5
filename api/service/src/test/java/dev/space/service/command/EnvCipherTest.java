package dev.space.service.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.service.key.PlatformCipher;
import dev.space.store.Blob;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An environment opens only with its key, for its session, and unchanged. */
class EnvCipherTest {
    private static final SessionId SESSION = new SessionId("ses_aaaaaaaaaaaaaaaaaaaaaaaaaa");
    private static final SessionId OTHER = new SessionId("ses_baaaaaaaaaaaaaaaaaaaaaaaaa");
    private static final Map<String, String> ENV = Map.of("TOKEN", "canary-5f1c", "EMPTY", "");

    @TempDir
    @SuppressWarnings("NullAway.Init") // set by JUnit
    Path directory;

    @SuppressWarnings("NullAway.Init") // set before every test
    private EnvCipher cipher;

    @BeforeEach
    void makeCipher() throws IOException {
        cipher = withKey(1);
    }

    private EnvCipher withKey(int filling) throws IOException {
        byte[] key = new byte[32];
        java.util.Arrays.fill(key, (byte) filling);
        return withText(Base64.getEncoder().encodeToString(key) + "\n");
    }

    private EnvCipher withText(String text) throws IOException {
        Path file = Files.createTempFile(directory, "env", ".key");
        return new EnvCipher(new PlatformCipher(Files.writeString(file, text)), new ObjectMapper());
    }

    private Blob sealed() {
        return Objects.requireNonNull(cipher.encrypt(SESSION, ENV));
    }

    @Test
    void whatIsSealedOpens() {
        assertThat(cipher.decrypt(SESSION, sealed())).isEqualTo(ENV);
    }

    @Test
    void anEmptyEnvironmentNeedsNoRow() {
        assertThat(cipher.encrypt(SESSION, Map.of())).isNull();
        assertThat(cipher.decrypt(SESSION, null)).isEmpty();
    }

    @Test
    void nothingOfItIsReadable() {
        String bytes = new String(sealed().bytes(), StandardCharsets.ISO_8859_1);
        assertThat(bytes).doesNotContain("canary").doesNotContain("TOKEN");
    }

    @Test
    void theSameEnvironmentNeverLooksTheSame() {
        assertThat(sealed().bytes()).isNotEqualTo(sealed().bytes());
    }

    @Test
    void anotherSessionsRowDoesNotOpen() {
        refused(cipher, OTHER, sealed());
    }

    @Test
    void anotherKeyDoesNotOpenIt() throws IOException {
        refused(withKey(2), SESSION, sealed());
    }

    @Test
    void aChangedBitIsNoticedWhereverItIs() {
        byte[] whole = sealed().bytes();
        for (int at = 0; at < whole.length; at++) {
            byte[] changed = whole.clone();
            changed[at] ^= 1;
            refused(cipher, SESSION, Blob.of(changed));
        }
    }

    @Test
    void aRowThatWasCutShortIsRefused() {
        byte[] whole = sealed().bytes();
        for (int length : new int[] {0, 1, 11, 12, 13, whole.length - 1}) {
            refused(cipher, SESSION, Blob.of(java.util.Arrays.copyOf(whole, length)));
        }
    }

    @Test
    void aKeyOfAnotherFormStopsTheStart() {
        for (String text : new String[] {"", "short", "not base64 at all!", "QUJD"}) {
            assertThatThrownBy(() -> withText(text))
                    .isInstanceOf(SpaceException.class)
                    .hasMessageContaining("32 bytes in base64")
                    .hasMessageNotContaining("QUJD");
        }
    }

    /** And says nothing of what is inside. */
    private static void refused(EnvCipher cipher, SessionId session, Blob sealed) {
        assertThatThrownBy(() -> cipher.decrypt(session, sealed))
                .isInstanceOfSatisfying(
                        SpaceException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL))
                .hasMessageContaining("does not open")
                .hasMessageNotContaining("canary");
    }
}
