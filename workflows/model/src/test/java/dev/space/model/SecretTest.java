package dev.space.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class SecretTest {

    private static final String CANARY = "canary-3f9a";

    @Test
    void neverPrintsItsContent() {
        try (Secret secret = Secret.ofText("node token", CANARY)) {
            assertThat(secret.toString()).isEqualTo("Secret(node token)").doesNotContain(CANARY);
            assertThat(String.valueOf((Object) secret)).doesNotContain(CANARY);
        }
    }

    @Test
    void aClosedSecretGivesNothingAndMatchesNothing() {
        Secret secret = Secret.ofText("key", CANARY);
        assertThat(secret.matches(CANARY.getBytes(StandardCharsets.UTF_8))).isTrue();
        secret.close();
        assertThat(secret.matches(CANARY.getBytes(StandardCharsets.UTF_8))).isFalse();
        assertThat(secret.matches(new byte[CANARY.length()])).isFalse();
        assertThatThrownBy(secret::text)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageNotContaining(CANARY);
    }

    @Test
    void whatItGivesAndTakesIsACopy() {
        byte[] given = CANARY.getBytes(StandardCharsets.UTF_8);
        try (Secret secret = new Secret("key", given)) {
            given[0] = 'X';
            secret.bytes()[1] = 'X';
            assertThat(secret.text()).isEqualTo(CANARY);
        }
    }
}
