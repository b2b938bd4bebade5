package dev.space.vault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.Secret;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What may be configured, and when a token is used. */
final class VaultSettingsTest {

    private static VaultSettings at(String address, String mount) {
        Path file = Path.of("/nonexistent");
        return new VaultSettings(URI.create(address), mount, Optional.empty(), file, file);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://vault.example.com:8200",
                "http://10.0.0.1",
                "ftp://127.0.0.1",
                "vault.example.com",
                "https://user:word@vault.example.com",
                "https://vault.example.com/v1",
                "https://vault.example.com?x=y",
                "https:///nothing"
            })
    void anAddressThatWouldGiveSecretsAwayIsRefused(String address) {
        assertThatThrownBy(() -> at(address, "space"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("address");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://vault.example.com:8200/",
                "http://127.0.0.1:8200",
                "http://[::1]:1"
            })
    void tlsOrThisMachineIsTaken(String address) {
        assertThat(at(address, "space").address().toString()).startsWith("http");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a/b", "..", "A", "a b"})
    void aMountIsOneSegment(String mount) {
        assertThatThrownBy(() -> at("https://vault.example.com", mount))
                .hasMessageContaining("mount");
    }

    @Test
    void aTokenIsRenewedAfterTwoThirdsAndLeftBeforeItsEnd() {
        Secret value = Secret.ofText("token", "t");
        long second = TimeUnit.SECONDS.toNanos(1);
        Token token = Token.of(value, 5, 30);
        assertThat(token.isDue(5 + 19 * second)).isFalse();
        assertThat(token.isDue(5 + 20 * second)).isTrue();
        assertThat(token.isUsable(5 + 26 * second)).isTrue();
        assertThat(token.isUsable(5 + 27 * second)).isFalse();
        assertThat(Token.of(value, 0, 0).isUsable(TimeUnit.HOURS.toNanos(20))).isTrue();
    }
}
