package dev.space.certificates;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.cert.CertPathValidator;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Chains hold for the names they are for, and for no other. */
@Timeout(60)
final class AuthorityTest {

    private final Instant now = Instant.now();

    @TempDir Path directory;

    private final Authority root = Authority.root(now);
    private final Authority gateway = root.gateway("node-1", now);
    private final KeyPair keys = Keys.generate();

    private List<X509Certificate> chain(String host, String... names) {
        return gateway.session("ses_a", Set.of(names), now).leaf(host, keys.getPublic(), now);
    }

    private void verify(List<X509Certificate> chain) throws Exception {
        PKIXParameters with = new PKIXParameters(Set.of(new TrustAnchor(root.own(), null)));
        with.setRevocationEnabled(false);
        var _ =
                CertPathValidator.getInstance("PKIX")
                        .validate(
                                CertificateFactory.getInstance("X.509").generateCertPath(chain),
                                with);
    }

    @Test
    void aLeafIsGoodForItsName() throws Exception {
        verify(chain("api.example.com", "api.example.com", "other.example"));
        verify(chain("a.b.example.org", "example.org"));
        assertThat(
                        chain("api.example.com", "api.example.com")
                                .getFirst()
                                .getSubjectAlternativeNames())
                .containsExactly(List.of(2, "api.example.com"));
    }

    @Test
    void aForeignNameIsRefusedByTheConstraint() {
        for (String foreign : List.of("bank.example", "example.com", "xapi.example.com")) {
            assertThatThrownBy(() -> verify(chain(foreign, "api.example.com")))
                    .as(foreign)
                    .isInstanceOf(CertPathValidatorException.class)
                    .hasMessageContaining("name constraints");
        }
    }

    @Test
    void aSessionsAuthorityMakesNoOther() {
        Authority session = gateway.session("ses_a", Set.of("a.example"), now);
        Authority deeper = session.session("ses_b", Set.of("a.example"), now);
        assertThatThrownBy(() -> verify(deeper.leaf("a.example", keys.getPublic(), now)))
                .hasMessageContaining("pathLen");
        assertThatThrownBy(() -> gateway.session("ses_a", Set.of(), now))
                .hasMessageContaining("every name");
    }

    @Test
    void openSslAgrees() throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/openssl")), "needs openssl");
        assertThat(openssl(chain("api.example.com", "api.example.com"))).endsWith(": OK");
        assertThat(openssl(chain("bank.example", "api.example.com")))
                .contains("permitted subtree violation");
    }

    private String openssl(List<X509Certificate> chain) throws Exception {
        Path anchor = write("root.pem", root.chainPem());
        Path leaf = write("leaf.pem", Pem.of(chain.subList(0, 1)));
        Path between = write("between.pem", Pem.of(chain.subList(1, chain.size())));
        Process process =
                new ProcessBuilder(
                                "openssl",
                                "verify",
                                "-x509_strict",
                                "-purpose",
                                "sslserver",
                                "-CAfile",
                                anchor.toString(),
                                "-untrusted",
                                between.toString(),
                                leaf.toString())
                        .redirectErrorStream(true)
                        .start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        return said;
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text);
    }

    @Test
    void filesAreReadAsTheyWereWritten() throws Exception {
        Path chain = write("chain.pem", gateway.chainPem());
        Path key = write("key.pem", gateway.keyPem());
        Authority read = Authority.read(chain, key);
        assertThat(read.chain()).isEqualTo(gateway.chain());
        assertThat(read.key()).isEqualTo(gateway.key());
        assertThat(read.isBelow(root.own())).isTrue();
        assertThat(read.isBelow(Authority.root(now).own())).isFalse();
        assertThat(read.toString()).doesNotContain("PRIVATE").contains("node-1");
        write("key.pem", root.keyPem());
        assertThatThrownBy(() -> Authority.read(chain, key)).hasMessageContaining("is not the");
        write("key.pem", "nothing");
        assertThatThrownBy(() -> Authority.read(chain, key)).isInstanceOf(IOException.class);
    }

    @Test
    void nothingOutlivesItsIssuer() {
        Instant late = now.plus(Authority.ROOT_VALIDITY).minus(Duration.ofDays(3));
        Authority last = root.gateway("node-1", late);
        assertThat(last.own().getNotAfter()).isEqualTo(root.own().getNotAfter());
        assertThat(last.lasts(Duration.ofDays(2), late)).isTrue();
        assertThat(last.lasts(Duration.ofDays(4), late)).isFalse();
        assertThat(gateway.session("s", Set.of("a.example"), now).own().getNotAfter())
                .isBefore(gateway.own().getNotAfter());
    }
}
