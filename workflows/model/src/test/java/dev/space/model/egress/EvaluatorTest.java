package dev.space.model.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.egress.EgressDecision.Check;
import dev.space.model.egress.EgressDecision.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class EvaluatorTest {

    private static final Evaluator EVALUATOR =
            new Evaluator(
                    EgressPolicy.parse(
                            """
                            {"allow":[{"host":"a.example"},
                             {"host":"*.b.example","ports":[443,8443]},
                             {"host":"api.example","ports":[80,8080],
                              "http":[{"methods":["GET"],"path":"/v1/*"},{"path":"/health"}]},
                             {"host":"open.api.example","ports":[8080],"http":[{"path":"/x"}]},
                             {"host":"*.api.example","ports":[8080]},
                             {"host":"db.example","ports":[5432],"private":true},
                             {"host":"head.example","ports":[80],"http":[{"methods":["HEAD"]}]},
                             {"host":"tls.example","http":[{"methods":["GET"]}]},
                             {"host":"*.tls.example","ports":[443],"http":[{"path":"/x"}]},
                             {"host":"open.tls.example"},
                             {"cidr":"203.0.113.0/24","ports":[5432]}]}
                            """));

    @ParameterizedTest
    @CsvSource({
        "a.example, ALLOW, allow[0]",
        "A.EXAMPLE., ALLOW, allow[0]",
        "x.y.b.example, ALLOW, allow[1]",
        "b.example, DENY, NAME_NOT_ALLOWED",
        "xb.example, DENY, NAME_NOT_ALLOWED",
        "x.a.example, DENY, NAME_NOT_ALLOWED",
        "bad name, DENY, NAME_INVALID",
        "203.0.113.7, DENY, NAME_INVALID",
    })
    void answersNames(String name, Verdict verdict, String why) {
        EgressDecision decision = EVALUATOR.dns(name);
        assertThat(decision.verdict()).isEqualTo(verdict);
        assertThat(decision.rule().orElse(decision.reason().name())).isEqualTo(why);
    }

    @ParameterizedTest
    @CsvSource({
        "a.example, 443, ALLOW, TLS_NAME, ALLOWED",
        "a.example, 80, ALLOW, HTTP_REQUESTS, ALLOWED",
        "a.example, 22, DENY, NONE, PORT_NOT_ALLOWED",
        "x.b.example, 8443, ALLOW, NONE, ALLOWED",
        "x.b.example, 80, DENY, NONE, PORT_NOT_ALLOWED",
        "api.example, 8080, ALLOW, HTTP_REQUESTS, ALLOWED",
        "open.api.example, 8080, ALLOW, NONE, ALLOWED",
        "tls.example, 443, ALLOW, TLS_REQUESTS, ALLOWED",
        "tls.example, 80, ALLOW, HTTP_REQUESTS, ALLOWED",
        "a.tls.example, 443, ALLOW, TLS_REQUESTS, ALLOWED",
        "open.tls.example, 443, ALLOW, TLS_NAME, ALLOWED",
        "c.example, 443, DENY, NONE, NAME_NOT_ALLOWED",
    })
    void answersConnections(
            String name, int port, Verdict verdict, Check check, EgressReason reason) {
        EgressDecision decision = EVALUATOR.connect(name, port);
        assertThat(decision.verdict()).isEqualTo(verdict);
        assertThat(decision.check()).isEqualTo(check);
        assertThat(decision.reason()).isEqualTo(reason);
    }

    @Test
    void tellsWhoseTlsMayHaveToBeLookedInto() {
        assertThat(EVALUATOR.interceptedNames()).containsExactlyInAnyOrder("tls.example");
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /v1/a, ALLOWED",
        "GET, /v1/, ALLOWED",
        "GET, /v1, REQUEST_NOT_ALLOWED",
        "POST, /v1/a, REQUEST_NOT_ALLOWED",
        "POST, /health?x=1, ALLOWED",
        "POST, /healthy, REQUEST_NOT_ALLOWED",
        "get, /v1/a, REQUEST_NOT_ALLOWED",
        "GET, /v1/../admin, PATH_AMBIGUOUS",
        "GET, /v1/%2e%2e/admin, PATH_AMBIGUOUS",
        "GET, *, PATH_AMBIGUOUS",
    })
    void answersRequests(String method, String target, EgressReason reason) {
        assertThat(EVALUATOR.http("api.example", 80, method, target).reason()).isEqualTo(reason);
    }

    @Test
    void aRuleWithoutEntriesAllowsEveryRequest() {
        assertThat(EVALUATOR.http("a.example", 80, "PURGE", "/a/../b").proceeds()).isTrue();
        assertThat(EVALUATOR.http("open.api.example", 8080, "GET", "/y").proceeds()).isTrue();
        assertThat(EVALUATOR.http("a.example", 81, "GET", "/").proceeds()).isFalse();
        assertThat(EVALUATOR.http("head.example", 80, "HEAD", "/a//b").proceeds()).isTrue();
        assertThat(EVALUATOR.http("head.example", 80, "GET", "/a").proceeds()).isFalse();
    }

    @Test
    void onlyNamedHostsMayBePrivate() {
        assertThat(EVALUATOR.connect("db.example", 5432).mayBePrivate()).isTrue();
        assertThat(EVALUATOR.connect("a.example", 443).mayBePrivate()).isFalse();
    }

    @Test
    void addressesAreAllowedByRangesOnly() {
        int inside = Ipv4.parse("203.0.113.9");
        assertThat(EVALUATOR.connect(inside, 5432).rule()).contains("allow[10]");
        assertThat(EVALUATOR.connect(inside, 5433).proceeds()).isFalse();
        assertThat(EVALUATOR.connect(Ipv4.parse("203.0.114.9"), 5432).reason())
                .isEqualTo(EgressReason.ADDRESS_NOT_ALLOWED);
    }

    @Test
    void aRangeMeansPrivateAddressesOnlyWhenItIsPrivateItself() {
        Evaluator all = addresses("0.0.0.0/0");
        assertThat(all.connect(Ipv4.parse("10.0.0.1"), 80).mayBePrivate()).isFalse();
        assertThat(all.connect(Ipv4.parse("10.0.0.1"), 80).proceeds()).isTrue();
        assertThat(addresses("10.0.0.0/8").connect(Ipv4.parse("10.0.0.1"), 80).mayBePrivate())
                .isTrue();
        assertThat(addresses("8.0.0.0/6").connect(Ipv4.parse("10.0.0.1"), 80).mayBePrivate())
                .isFalse();
        assertThat(SpecialRanges.contain(SpecialRanges.NEVER, Ipv4.parse("169.254.169.254")))
                .isTrue();
    }

    private static Evaluator addresses(String range) {
        return new Evaluator(
                EgressPolicy.parse("{\"allow\":[{\"cidr\":\"" + range + "\",\"ports\":[80]}]}"));
    }

    @Test
    void aDryRunGoesOnAndSaysSo() {
        Evaluator dry = new Evaluator(EgressPolicy.parse("{\"dryRun\":true}"));
        EgressDecision decision = dry.connect("c.example", 443);
        assertThat(decision.verdict()).isEqualTo(Verdict.DRY_RUN_DENY);
        assertThat(decision.proceeds()).isTrue();
        assertThat(dry.dns("c.example").proceeds()).isTrue();
        assertThat(dry.dns("no name").proceeds()).isFalse();
    }
}
