package dev.space.model.credential;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Ids;
import dev.space.model.SpaceException;
import dev.space.model.credential.CredentialMatch.None;
import dev.space.model.credential.CredentialMatch.One;
import dev.space.model.credential.CredentialMatch.Refused;
import dev.space.model.egress.EgressReason;
import dev.space.model.egress.HostPattern;
import dev.space.model.egress.HttpMatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Random grants from seeds: canonical form, agreement with a plain oracle, hostile text. */
final class CredentialGrantsPropertyTest {

    private static final int SEEDS = 2_000;
    private static final long NOW = 1_000;
    private static final List<String> HOSTS =
            List.of("a.example", "*.a.example", "b.a.example", "*.example", "c.test");
    private static final List<String> NAMES = List.of("a.example", "b.a.example", "c.test", "x.a");
    private static final List<Integer> PORTS = List.of(80, 443, 8443);
    private static final List<String> METHODS = List.of("GET", "POST");
    private static final List<String> PATHS = List.of("/*", "/", "/a/*", "/a/b");
    private static final List<String> TARGETS = List.of("/", "/a/b", "/a/b?q=/..", "/a/../b", "*");

    @Test
    void whatIsWrittenIsReadAsItWas() {
        for (long seed = 0; seed < SEEDS; seed++) {
            CredentialGrants grants = grants(new Random(seed));
            String json = grants.toJson();
            assertThat(CredentialGrants.parse(json)).as("seed %s", seed).isEqualTo(grants);
            assertThat(CredentialGrants.parse(json).toJson()).as("seed %s", seed).isEqualTo(json);
            for (CredentialGrant grant : grants.all()) {
                assertThat(CredentialUse.parse(grant.use().toJson())).isEqualTo(grant.use());
            }
        }
    }

    /** Exactly one, or refused, or the host is nobody's. */
    @Test
    void exactlyOneGrantMatchesOrTheRequestDoesNotPass() {
        int[] seen = new int[3];
        for (long seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            CredentialGrants grants = grants(random);
            for (int question = 0; question < 20; question++) {
                String host = pick(random, NAMES);
                int port = pick(random, PORTS);
                String method = pick(random, METHODS);
                String target = pick(random, TARGETS);
                CredentialMatch match = grants.match(host, port, method, target, NOW);
                List<CredentialGrant> there =
                        grants.all().stream()
                                .filter(g -> g.expires().orElse(Long.MAX_VALUE) > NOW)
                                .filter(g -> reaches(g, host, port))
                                .toList();
                List<CredentialGrant> fit =
                        there.stream()
                                .filter(g -> serves(g.use().match(), method, target))
                                .toList();
                String as = "seed " + seed + " " + host + ":" + port + " " + method + " " + target;
                assertThat(grants.isFor(host, port, NOW)).as(as).isEqualTo(!there.isEmpty());
                switch (match) {
                    case None() -> {
                        seen[0]++;
                        assertThat(there).as(as).isEmpty();
                    }
                    case One(CredentialGrant grant) -> {
                        seen[1]++;
                        assertThat(fit).as(as).containsExactly(grant);
                        assertThat(grants.placeholdersBut(match))
                                .as(as)
                                .doesNotContain(grant.placeholder());
                    }
                    case Refused(EgressReason reason, String detail) -> {
                        seen[2]++;
                        assertThat(there).as(as).isNotEmpty();
                        assertThat(fit.size()).as(as).isNotEqualTo(1);
                        assertThat(reason == EgressReason.AMBIGUOUS_CREDENTIAL)
                                .as(as)
                                .isEqualTo(fit.size() > 1);
                        assertThat(detail)
                                .as(as)
                                .contains((fit.isEmpty() ? there : fit).getFirst().name());
                    }
                }
            }
        }
        assertThat(seen).as("each answer occurred").doesNotContain(0);
    }

    /** Garbage is refused with a code, and never otherwise. */
    @Test
    void brokenTextIsRefused() {
        for (long seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            StringBuilder json = new StringBuilder(grants(random).toJson()).append(' ');
            for (int i = 0; i < 3; i++) {
                json.setCharAt(
                        random.nextInt(json.length()), "[]{},:\"x0\\".charAt(random.nextInt(10)));
            }
            try {
                CredentialGrants read = CredentialGrants.parse(json.toString());
                assertThat(CredentialGrants.parse(read.toJson())).isEqualTo(read);
            } catch (SpaceException refused) {
                assertThat(refused.getMessage()).as("seed %s", seed).isNotEmpty();
            }
        }
    }

    private static boolean reaches(CredentialGrant grant, String host, int port) {
        return grant.use().hosts().stream()
                .anyMatch(h -> h.ports().contains(port) && h.host().matches(host));
    }

    private static boolean serves(HttpMatch match, String method, String target) {
        boolean methodFits = match.methods().isEmpty() || match.methods().contains(method);
        boolean odd = target.contains("/../") || target.equals("*");
        String path = target.replaceAll("\\?.*", "");
        boolean pathFits =
                switch (match.path()) {
                    case "/*" -> true;
                    case "/a/*" -> !odd && path.startsWith("/a/");
                    default -> !odd && path.equals(match.path());
                };
        return methodFits && pathFits;
    }

    private static CredentialGrants grants(Random random) {
        TreeMap<String, CredentialGrant> grants = new TreeMap<>();
        for (int i = random.nextInt(5); i > 0; i--) {
            CredentialGrant grant = grant(random);
            grants.put(grant.name(), grant);
        }
        return new CredentialGrants(new ArrayList<>(grants.values()));
    }

    private static CredentialGrant grant(Random random) {
        byte[] id = new byte[Ids.RANDOM_BYTES];
        random.nextBytes(id);
        List<GrantedHost> hosts = new ArrayList<>();
        for (int i = random.nextInt(2); i >= 0; i--) {
            TreeSet<Integer> ports = new TreeSet<>(List.of(pick(random, PORTS)));
            hosts.add(new GrantedHost(HostPattern.of(pick(random, HOSTS)), List.copyOf(ports)));
        }
        Injection injection =
                switch (random.nextInt(7)) {
                    case 0 -> new Injection.Header("X-Key", random.nextBoolean() ? "Bearer " : "");
                    case 1 -> new Injection.Basic("user");
                    case 2 -> new Injection.Query("key");
                    case 4 ->
                            new Injection.OAuth2(
                                    pick(random, List.of(Injection.OAuth2.Grant.values())),
                                    TokenUrl.of("https://login.example/t?x=" + random.nextInt(3)),
                                    "me",
                                    random.nextBoolean() ? "" : "a b",
                                    random.nextBoolean() ? "" : "https://api.example",
                                    random.nextBoolean());
                    case 5 ->
                            new Injection.Jwt(
                                    pick(random, List.of(Injection.Jwt.Algorithm.values())),
                                    "me",
                                    random.nextBoolean() ? "" : "you",
                                    "",
                                    "",
                                    random.nextBoolean() ? "" : "key 1",
                                    random.nextBoolean()
                                            ? Optional.empty()
                                            : Optional.of(TokenUrl.of("https://l.example:8443/t")));
                    case 3 -> new Injection.Sigv4("AKID", "r-" + random.nextInt(3), "s3");
                    default -> new Injection.Placeholder("PLACEHOLDER-" + random.nextInt(9));
                };
        List<String> methods = random.nextBoolean() ? List.of() : List.of(pick(random, METHODS));
        return new CredentialGrant(
                Ids.text("crd", id),
                Ids.text(random.nextBoolean() ? "prj" : "org", id),
                1 + random.nextInt(9),
                "name-" + random.nextInt(9),
                new CredentialUse(
                        hosts,
                        new HttpMatch(methods, pick(random, PATHS)),
                        injection,
                        random.nextBoolean()
                                ? Optional.empty()
                                : Optional.of(
                                        new UseLimit(
                                                1 + random.nextInt(9),
                                                pick(random, List.of(UseLimit.Per.values()))))),
                random.nextBoolean()
                        ? OptionalLong.empty()
                        : OptionalLong.of(NOW - 2 + random.nextInt(5)),
                random.nextBoolean()
                        ? new Material.Sealed("AAAA")
                        : new Material.Vault("space/prj/crd", 1 + random.nextInt(3)));
    }

    private static <T> T pick(Random random, List<T> from) {
        return from.get(random.nextInt(from.size()));
    }
}
