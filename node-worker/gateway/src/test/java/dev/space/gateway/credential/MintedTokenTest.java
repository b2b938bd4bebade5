package dev.space.gateway.credential;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.gateway.credential.MintedToken.Asked;
import dev.space.gateway.credential.MintedToken.Failed;
import dev.space.gateway.credential.MintedToken.NoToken;
import dev.space.gateway.credential.MintedToken.Ready;
import dev.space.gateway.credential.MintedToken.Token;
import dev.space.model.Secret;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.CredentialUse;
import dev.space.model.credential.GrantedHost;
import dev.space.model.credential.Injection;
import dev.space.model.credential.Material;
import dev.space.model.egress.EgressReason;
import dev.space.model.egress.HostPattern;
import dev.space.model.egress.HttpMatch;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How long a token is used, and how often one is asked for. */
final class MintedTokenTest {

    private final List<CompletableFuture<Token>> asked = new ArrayList<>();
    private final Secret secret = Secret.ofText("test", "client-secret");
    private long nanos = Long.MAX_VALUE - 10;
    private final MintedToken minted =
            new MintedToken(
                    grant(),
                    _ -> {
                        asked.add(new CompletableFuture<>());
                        return asked.getLast();
                    },
                    () -> nanos);

    @AfterEach
    void close() {
        minted.close();
        secret.close();
    }

    private static CredentialGrant grant() {
        return new CredentialGrant(
                "crd_aaaaaaaaaaaaaaaaaaaaaaaaaa",
                "prj_aaaaaaaaaaaaaaaaaaaaaaaaaa",
                1,
                "one",
                new CredentialUse(
                        List.of(new GrantedHost(HostPattern.of("a.example"), List.of(443))),
                        HttpMatch.ANY,
                        new Injection.Header("x", "")),
                OptionalLong.empty(),
                new Material.Sealed("AAAA"));
    }

    private void passes(Duration time) {
        nanos += time.toNanos();
    }

    private String ready() {
        return ((Ready) minted.look(secret)).token().secret().text();
    }

    private Opened opened() {
        return ((Ready) minted.look(secret)).token();
    }

    @Test
    void manyRequestsAskOnceAndItIsUsedUntilShortlyBeforeItsEnd() {
        Asked first = (Asked) minted.look(secret);
        assertThat(((Asked) minted.look(secret)).done()).isSameAs(first.done());
        assertThat(asked).hasSize(1);
        assertThat(first.done()).isNotDone();
        asked.getLast().complete(new Token("token-1", 600));
        assertThat(first.done()).isCompleted();
        passes(Duration.ofMinutes(10).minus(MintedToken.MARGIN).minusNanos(1));
        minted.forgetOld();
        assertThat(ready()).isEqualTo("token-1");
        Opened old = opened();
        passes(Duration.ofNanos(1));
        assertThat(minted.look(secret)).isInstanceOf(Asked.class);
        assertThat(asked).hasSize(2);
        assertThat(
                        old.secret()
                                .matches(
                                        "token-1"
                                                .getBytes(java.nio.charset.StandardCharsets.UTF_8)))
                .as("it was wiped")
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({"3600,3540", "120,60", "61,5", "0,5", "100000,3600"})
    void itsLifeIsBounded(long says, long kept) {
        assertThat(MintedToken.kept(says)).isEqualTo(Duration.ofSeconds(kept));
    }

    @Test
    void anEndpointThatFailsIsNotAskedByEveryRequest() {
        var _ = minted.look(secret);
        asked.getLast().completeExceptionally(new IOException("it is down"));
        assertThat(minted.look(secret)).isEqualTo(new Failed(EgressReason.TOKEN_UNAVAILABLE));
        passes(MintedToken.UNAVAILABLE_KEPT);
        assertThat(minted.look(secret)).isInstanceOf(Asked.class);
        asked.getLast().completeExceptionally(new NoToken(EgressReason.TOKEN_REFUSED, "no"));
        passes(MintedToken.REFUSED_KEPT.minusNanos(1));
        assertThat(minted.look(secret)).isEqualTo(new Failed(EgressReason.TOKEN_REFUSED));
        passes(Duration.ofNanos(1));
        assertThat(minted.look(secret)).isInstanceOf(Asked.class);
        asked.getLast().complete(new Token("token-2", 600));
        assertThat(ready()).isEqualTo("token-2");
    }

    @Test
    void aRefusedTokenIsReplacedOnceAndNotByEveryRefusal() {
        var _ = minted.look(secret);
        asked.getLast().complete(new Token("token-1", 600));
        Opened first = opened();
        minted.refused(first);
        assertThat(minted.look(secret)).isInstanceOf(Asked.class);
        asked.getLast().complete(new Token("token-2", 600));
        minted.refused(first);
        assertThat(ready()).as("an answer to the old one says nothing").isEqualTo("token-2");
        minted.refused(opened());
        assertThat(ready()).as("not so soon again").isEqualTo("token-2");
        passes(MintedToken.RENEWED_AT_MOST);
        minted.refused(opened());
        assertThat(minted.look(secret)).isInstanceOf(Asked.class);
        assertThat(asked).hasSize(3);
    }

    @Test
    void closedItGivesNothingAndWhoWaitsIsTold() {
        Asked waiting = (Asked) minted.look(secret);
        minted.close();
        assertThat(waiting.done()).isCompleted();
        asked.getLast().complete(new Token("token-late", 600));
        assertThat(minted.look(secret)).isEqualTo(new Failed(EgressReason.CREDENTIAL_UNAVAILABLE));
        assertThat(minted.toString() + new Token("token-x", 1)).doesNotContain("token-x");
    }
}
