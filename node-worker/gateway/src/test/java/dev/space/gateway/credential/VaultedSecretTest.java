package dev.space.gateway.credential;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Secret;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.CredentialUse;
import dev.space.model.credential.Material;
import dev.space.vault.VaultFailure;
import dev.space.vault.VaultFault;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** How long a secret of a vault is kept, by a clock of the test. */
final class VaultedSecretTest {

    private static final Material.Vault PLACE = new Material.Vault("credentials/a/b", 1);

    private long now = Long.MAX_VALUE - 5; // the clock may run over
    private final List<CompletableFuture<Secret>> asked = new ArrayList<>();
    private final VaultedSecret secret =
            new VaultedSecret(
                    new CredentialGrant(
                            "crd_" + "a".repeat(26),
                            "prj_" + "a".repeat(26),
                            1,
                            "one",
                            CredentialUse.parse(
                                    "{\"hosts\":[{\"host\":\"a.example\"}],\"injection\":"
                                            + "{\"kind\":\"header\",\"name\":\"x\"}}"),
                            OptionalLong.empty(),
                            PLACE),
                    PLACE,
                    (_, _) -> {
                        CompletableFuture<Secret> answer = new CompletableFuture<>();
                        asked.add(answer);
                        return answer;
                    },
                    () -> now);

    private static Secret value(String text) {
        return Secret.ofText("test", text);
    }

    private VaultedSecret.Asked look() {
        VaultedSecret.State state = secret.look();
        assertThat(state).isInstanceOf(VaultedSecret.Asked.class);
        return (VaultedSecret.Asked) state;
    }

    @Test
    void oneQuestionServesAllThatWaitAndTheTimeRunsFromIt() {
        VaultedSecret.Asked first = look();
        assertThat(look().done()).isSameAs(first.done());
        assertThat(asked).hasSize(1);
        now += VaultedSecret.KEPT.toNanos() - 2;
        Secret value = value("the-secret");
        assertThat(asked.getFirst().complete(value)).isTrue();
        assertThat(first.done()).isDone();
        assertThat(secret.look()).isInstanceOf(VaultedSecret.Ready.class);
        now += 1;
        assertThat(secret.look()).isInstanceOf(VaultedSecret.Ready.class);
        now += 1;
        secret.forgetOld();
        assertThat(value.matches("the-secret".getBytes(java.nio.charset.StandardCharsets.UTF_8)))
                .as("not wiped")
                .isFalse();
        VaultedSecret.Asked _ = look();
        assertThat(asked).hasSize(2);
    }

    @Test
    void aFailureIsToldAndAskedAgainAfterAShortTime() {
        VaultedSecret.Asked first = look();
        assertThat(asked.getFirst().completeExceptionally(VaultFailure.of(VaultFault.SEALED)))
                .isTrue();
        assertThat(first.done()).isCompleted();
        assertThat(secret.look()).isEqualTo(new VaultedSecret.Failed(VaultFault.SEALED));
        now += VaultedSecret.FAILURE_KEPT.toNanos();
        VaultedSecret.Asked _ = look();
        assertThat(asked).hasSize(2);
    }

    @Test
    void anAnswerAfterTheEndIsWipedAndNobodyWaitsForIt() {
        VaultedSecret.Asked first = look();
        secret.close();
        assertThat(first.done()).isCompleted();
        Secret late = value("the-secret");
        assertThat(asked.getFirst().complete(late)).isTrue();
        assertThat(late.matches("the-secret".getBytes(java.nio.charset.StandardCharsets.UTF_8)))
                .isFalse();
        assertThat(secret.look()).isInstanceOf(VaultedSecret.Failed.class);
    }

    @Test
    void whatNoHeaderCanCarryIsRefused() {
        VaultedSecret.Asked _ = look();
        assertThat(asked.getFirst().complete(value("two\nlines"))).isTrue();
        assertThat(secret.look()).isEqualTo(new VaultedSecret.Failed(VaultFault.FOREIGN));
    }
}
