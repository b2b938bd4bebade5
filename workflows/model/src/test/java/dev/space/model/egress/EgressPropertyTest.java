package dev.space.model.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.SpaceException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Random policies from seeds: canonical form, agreement with a plain oracle, hostile text. */
final class EgressPropertyTest {

    private static final int SEEDS = 2_000;
    private static final List<String> LABELS = List.of("a", "b", "www", "api", "xn--bcher-kva");
    private static final List<Integer> PORTS = List.of(22, 80, 443, 5432, 8080);
    private static final List<String> METHODS = List.of("GET", "HEAD", "POST");
    private static final List<String> PATHS = List.of("/*", "/", "/a", "/a/*", "/a/b", "/v1/*");

    @Test
    void whatIsWrittenIsReadAsItWas() {
        for (long seed = 0; seed < SEEDS; seed++) {
            EgressPolicy policy = policy(new Random(seed));
            String json = policy.toJson();
            assertThat(EgressPolicy.parse(json)).as("seed %s", seed).isEqualTo(policy);
            assertThat(EgressPolicy.parse(json).toJson()).as("seed %s", seed).isEqualTo(json);
        }
    }

    @Test
    void theIndexAnswersAsALookAtEveryRuleDoes() {
        for (long seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            EgressPolicy policy = policy(random);
            Evaluator evaluator = new Evaluator(policy);
            for (int question = 0; question < 20; question++) {
                String name = name(random);
                int port = pick(random, PORTS);
                String method = pick(random, METHODS);
                String path = pick(random, List.of("/", "/a", "/a/b", "/v1/x", "/a/bc"));
                int address = 0x0a000000 | random.nextInt(256) << 16;
                String as = "seed " + seed + " " + policy + " " + name + ":" + port;
                assertThat(evaluator.dns(name).verdict() == EgressDecision.Verdict.ALLOW)
                        .as(as)
                        .isEqualTo(hosts(policy).stream().anyMatch(r -> r.host().matches(name)));
                assertThat(evaluator.connect(name, port).verdict() == EgressDecision.Verdict.ALLOW)
                        .as(as)
                        .isEqualTo(hosts(policy).stream().anyMatch(r -> reaches(r, name, port)));
                assertThat(
                                evaluator.http(name, port, method, path).reason()
                                        == EgressReason.ALLOWED)
                        .as(as + " " + method + " " + path)
                        .isEqualTo(
                                hosts(policy).stream()
                                        .filter(r -> reaches(r, name, port))
                                        .anyMatch(r -> serves(r, method, path)));
                assertThat(evaluator.connect(address, port).reason() == EgressReason.ALLOWED)
                        .as(as)
                        .isEqualTo(
                                policy.allow().stream()
                                        .anyMatch(r ->
                                                r instanceof EgressRule.Addresses a
                                                        && a.cidr().contains(address)
                                                        && a.ports().contains(port)));
            }
        }
    }

    /** Each added rule only adds: nobody loses access by another rule. */
    @Test
    void rulesOnlyAdd() {
        for (long seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            EgressPolicy policy = policy(random);
            List<EgressRule> more = new ArrayList<>(policy.allow());
            more.add(random.nextInt(more.size() + 1), rule(random));
            Evaluator before = new Evaluator(policy);
            Evaluator after =
                    new Evaluator(new EgressPolicy(more, policy.limits(), policy.dryRun()));
            for (int question = 0; question < 20; question++) {
                String name = name(random);
                int port = pick(random, PORTS);
                String method = pick(random, METHODS);
                String path = pick(random, PATHS).replace('*', 'x');
                if (before.http(name, port, method, path).reason() == EgressReason.ALLOWED) {
                    assertThat(after.http(name, port, method, path).reason())
                            .as("seed %s %s:%s %s %s", seed, name, port, method, path)
                            .isEqualTo(EgressReason.ALLOWED);
                }
            }
        }
    }

    @Test
    void damagedTextIsRefusedAndNothingElse() {
        for (long seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            StringBuilder json = new StringBuilder(policy(random).toJson());
            for (int i = 0; i < 1 + random.nextInt(4) && !json.isEmpty(); i++) {
                int at = random.nextInt(json.length());
                switch (random.nextInt(4)) {
                    case 0 -> json.deleteCharAt(at);
                    case 1 -> json.insert(at, (char) random.nextInt(0x100));
                    case 2 -> json.setCharAt(at, "{}[]\",:0*\\".charAt(random.nextInt(10)));
                    default -> json.insert(at, json.substring(at, Math.min(json.length(), at + 9)));
                }
            }
            try {
                EgressPolicy read = EgressPolicy.parse(json.toString());
                assertThat(EgressPolicy.parse(read.toJson())).isEqualTo(read);
            } catch (SpaceException e) {
                assertThat(e.getMessage()).as("seed %s", seed).startsWith("network");
            }
        }
    }

    private static boolean reaches(EgressRule.Host rule, String name, int port) {
        return rule.host().matches(name) && rule.ports().contains(port);
    }

    private static boolean serves(EgressRule.Host rule, String method, String path) {
        return rule.http().isEmpty() || rule.http().stream().anyMatch(m -> m.matches(method, path));
    }

    private static List<EgressRule.Host> hosts(EgressPolicy policy) {
        List<EgressRule.Host> hosts = new ArrayList<>();
        for (EgressRule rule : policy.allow()) {
            if (rule instanceof EgressRule.Host host) {
                hosts.add(host);
            } else if (rule instanceof EgressRule.Named named) {
                hosts.addAll(named.preset().rules());
            }
        }
        return hosts;
    }

    private static EgressPolicy policy(Random random) {
        List<EgressRule> rules = new ArrayList<>();
        for (int i = random.nextInt(6); i > 0; i--) {
            rules.add(rule(random));
        }
        EgressLimits limits =
                new EgressLimits(
                        1 + random.nextInt(EgressLimits.CONNECTIONS_MAX),
                        random.nextBoolean()
                                ? OptionalLong.empty()
                                : OptionalLong.of(1 + random.nextLong(Long.MAX_VALUE - 1)),
                        random.nextBoolean()
                                ? OptionalInt.empty()
                                : OptionalInt.of(1 + random.nextInt(1000)));
        return new EgressPolicy(rules, limits, random.nextBoolean());
    }

    private static EgressRule rule(Random random) {
        return switch (random.nextInt(5)) {
            case 0 -> new EgressRule.Named(pick(random, List.of(EgressPreset.values())));
            case 1 -> {
                int bits = random.nextInt(33);
                int mask = bits == 0 ? 0 : -1 << (32 - bits);
                yield new EgressRule.Addresses(
                        new Cidr((0x0a000000 | random.nextInt(1 << 24)) & mask, bits),
                        ports(random, PORTS));
            }
            default -> {
                boolean looks = random.nextInt(3) == 0;
                yield new EgressRule.Host(
                        new HostPattern(name(random), random.nextBoolean()),
                        ports(random, PORTS),
                        random.nextBoolean(),
                        looks ? https(random) : List.of());
            }
        };
    }

    private static List<HttpMatch> https(Random random) {
        List<HttpMatch> matches = new ArrayList<>();
        for (int i = 1 + random.nextInt(2); i > 0; i--) {
            TreeSet<String> methods = new TreeSet<>();
            for (int m = random.nextInt(3); m > 0; m--) {
                methods.add(pick(random, METHODS));
            }
            matches.add(new HttpMatch(List.copyOf(methods), pick(random, PATHS)));
        }
        return matches;
    }

    private static List<Integer> ports(Random random, List<Integer> from) {
        TreeSet<Integer> ports = new TreeSet<>();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            ports.add(pick(random, from));
        }
        return List.copyOf(ports);
    }

    private static String name(Random random) {
        StringBuilder name = new StringBuilder();
        for (int i = random.nextInt(3); i > 0; i--) {
            name.append(pick(random, LABELS)).append('.');
        }
        return name + pick(random, List.of("a.example", "b.example", "pypi.org"));
    }

    private static <T> T pick(Random random, List<T> from) {
        return from.get(random.nextInt(from.size()));
    }
}
