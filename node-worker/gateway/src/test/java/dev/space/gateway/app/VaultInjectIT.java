package dev.space.gateway.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Secret;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.CredentialUse;
import dev.space.model.credential.GrantedHost;
import dev.space.model.credential.Injection;
import dev.space.model.credential.Material;
import dev.space.model.egress.HostPattern;
import dev.space.model.egress.HttpMatch;
import dev.space.vault.OpenBao;
import dev.space.vault.SlowProxy;
import dev.space.vault.VaultWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Credentials come out of a real OpenBao when they are used, and a sandbox is told when not. */
@Timeout(180)
final class VaultInjectIT {

    private static final Path POLICIES = Path.of("../../vault-policies");
    private static final String URL = "https://" + InterceptRig.NAME;
    private static final String SECRET = "canary-5up3r/s3cret+value";
    private static final String PLACEHOLDER = "SPACE_PLACEHOLDER_1";
    private static final String ENTRY = OpenBao.PREFIX + "/" + Sealer.SCOPE + "/" + Sealer.ID;

    @TempDir Path directory;

    @SuppressWarnings("NullAway.Init") // set before every test
    private OpenBao bao;

    @SuppressWarnings("NullAway.Init") // set before every test
    private SlowProxy proxy;

    @SuppressWarnings("NullAway.Init") // set before every test
    private VaultWriter writer;

    @SuppressWarnings("NullAway.Init") // set before every test
    private InterceptRig rig;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Origin origin;

    private int version;

    @BeforeEach
    void start() throws Exception {
        if (OpenBao.binary().isEmpty()) {
            System.err.println("skipped: set SPACE_BAO_BIN to the bao binary of OpenBao");
        }
        Assumptions.assumeTrue(OpenBao.binary().isPresent(), "no SPACE_BAO_BIN");
        bao = OpenBao.start(OpenBao.binary().get(), directory.resolve("bao"), POLICIES);
        proxy = new SlowProxy(bao.port());
        writer = new VaultWriter(bao.settings("space-control", bao.port()));
        rig =
                new InterceptRig(
                        directory,
                        Optional.empty(),
                        Optional.of(bao.settings("space-gateway", proxy.port())));
        origin = rig.origin("h2", "http/1.1");
    }

    @AfterEach
    void stop() {
        for (AutoCloseable each : new AutoCloseable[] {origin, rig, writer, proxy, bao}) {
            if (each != null) {
                try {
                    each.close();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    private void bind(Injection injection, String secret) {
        CredentialUse use =
                new CredentialUse(
                        List.of(new GrantedHost(HostPattern.of(InterceptRig.NAME), List.of(443))),
                        HttpMatch.ANY,
                        injection);
        version++;
        String context = CredentialGrant.sealingContext(Sealer.SCOPE, Sealer.ID, version, use);
        try (Secret value = Secret.ofText("test", secret)) {
            bind(
                    new CredentialGrant(
                            Sealer.ID,
                            Sealer.SCOPE,
                            version,
                            "one",
                            use,
                            OptionalLong.empty(),
                            new Material.Vault(ENTRY, writer.write(ENTRY, context, value))));
        }
    }

    private void bind(CredentialGrant grant) {
        last = Optional.of(grant);
        rebinds++;
        var _ =
                rig.rig
                        .calls()
                        .bind(
                                Rig.request(
                                                Rig.SESSION,
                                                1,
                                                rebinds,
                                                "{\"allow\":[{\"host\":\"api.example\","
                                                        + "\"private\":true,\"ports\":[443]}]}")
                                        .toBuilder()
                                        .setGrantsJson(Sealer.json(grant))
                                        .build());
    }

    private Optional<CredentialGrant> last = Optional.empty();
    private int rebinds;

    /** The gateway forgets what it fetched, as after each change of what the session may do. */
    private void bindAgain() {
        bind(last.orElseThrow());
    }

    private String refused(String status, String reason) throws Exception {
        String said = rig.curl("-i", URL + "/echo");
        assertThat(said)
                .contains(" " + status)
                .contains(reason)
                .doesNotContain("127.0.0.1")
                .doesNotContain(String.valueOf(bao.port()))
                .doesNotContain(ENTRY)
                .doesNotContain(SECRET);
        return said;
    }

    private void awaitServed() throws Exception {
        long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        String said = "";
        while (System.nanoTime() - end < 0) {
            said = rig.curl("-i", URL + "/echo");
            if (said.contains(" 200")) {
                return;
            }
        }
        throw new AssertionError("not served again: " + said);
    }

    @Test
    void aSecretOfTheVaultIsPutInAndANewVersionToo() throws Exception {
        for (String flag : List.of("--http1.1", "--http2")) {
            bind(new Injection.Header("authorization", "Bearer "), SECRET);
            String said = rig.curl(flag, "-i", "-d", "a=b", URL + "/echo");
            assertThat(said).contains(" 200").doesNotContain(SECRET).contains("a=b");
            assertThat(origin.seen().getLast()).contains("authorization: Bearer " + SECRET);
            bind(new Injection.Placeholder(PLACEHOLDER), "another-" + SECRET);
            said = rig.curl(flag, "-i", "-d", "password=" + PLACEHOLDER, URL + "/echo");
            assertThat(said).contains(" 200").contains("password=*").doesNotContain(PLACEHOLDER);
        }
    }

    @Test
    void requestsThatFollowOneThatWaitsAreServedInOrder() throws Exception {
        bind(new Injection.Header("x-key", ""), SECRET);
        assertThat(rig.curl("--http1.1", "-d", "one", URL + "/echo", "-d", "two", URL + "/echo?2"))
                .contains("POST /echo")
                .contains("/echo?2");
        assertThat(origin.seen()).hasSize(2).allMatch(s -> s.contains("x-key: " + SECRET));
    }

    @Test
    void aVaultThatIsSealedOrGoneIsToldAndUsedWhenItIsBack() throws Exception {
        bind(new Injection.Header("x-key", ""), SECRET);
        awaitServed();
        bao.seal();
        assertThat(rig.curl("-i", URL + "/echo")).as("kept for a short time").contains(" 200");
        bindAgain();
        String said = refused("503", "CREDENTIAL_STORE_UNAVAILABLE: one");
        assertThat(said).contains("try again later");
        bao.unseal();
        awaitServed();
        bao.kill();
        bindAgain();
        String _ = refused("503", "CREDENTIAL_STORE_UNAVAILABLE");
        bao.run();
        bao.unseal();
        awaitServed();
        assertThat(origin.seen()).allMatch(s -> s.contains("x-key: " + SECRET));
    }

    @Test
    void aSlowVaultHoldsUpItsOwnRequestsForAShortTimeOnly() throws Exception {
        bind(new Injection.Header("x-key", ""), SECRET);
        awaitServed();
        proxy.hold(true);
        bindAgain();
        long began = System.nanoTime();
        String _ = refused("503", "CREDENTIAL_STORE_UNAVAILABLE");
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(15));
        proxy.hold(false);
        awaitServed();
    }

    @Test
    void withoutTheRightOrTheVersionNothingIsUsed() throws Exception {
        String own = Files.readString(POLICIES.resolve("space-gateway.hcl"));
        bind(new Injection.Header("x-key", ""), SECRET);
        awaitServed();
        bao.policy("space-gateway", own.replace("[\"read\"]", "[\"deny\"]"));
        bindAgain();
        String _ = refused("502", "CREDENTIAL_UNAVAILABLE: one");
        bao.policy("space-gateway", own);
        awaitServed();
        writer.remove(ENTRY);
        bindAgain();
        String _ = refused("502", "CREDENTIAL_UNAVAILABLE: one");
        int before = origin.seen().size();
        bind(new Injection.Header("x-key", ""), SECRET);
        bao.revokeTokens();
        awaitServed();
        assertThat(origin.seen()).hasSizeGreaterThan(before);
    }

    @Test
    void anEntryThatWasWrittenForAnotherUseIsRefused() throws Exception {
        bind(new Injection.Header("x-key", ""), SECRET);
        CredentialGrant grant = last.orElseThrow();
        CredentialUse other =
                new CredentialUse(
                        grant.use().hosts(), HttpMatch.ANY, new Injection.Header("x-log", ""));
        bind(
                new CredentialGrant(
                        grant.id(),
                        grant.scope(),
                        grant.version(),
                        grant.name(),
                        other,
                        grant.expires(),
                        grant.material()));
        String _ = refused("502", "CREDENTIAL_UNAVAILABLE: one");
        assertThat(origin.seen()).isEmpty();
    }
}
