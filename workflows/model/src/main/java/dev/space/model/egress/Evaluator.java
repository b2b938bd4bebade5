package dev.space.model.egress;

import dev.space.model.egress.EgressDecision.Check;
import dev.space.model.egress.EgressDecision.Verdict;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Answers for one policy, without looking at anything else. Safe for many threads.
 *
 * <p>Where several rules match a name and port, what any of them allows is allowed: only when each
 * of them has HTTP entries are requests looked at.
 */
public final class Evaluator {

    /** Where nothing is encrypted. */
    public static final int HTTP_PORT = 80;

    private static final int TLS_PORT = 443;

    /** A host rule with its place in the policy. */
    private record Placed(String place, EgressRule.Host rule) {}

    private final boolean dryRun;
    private final Map<String, List<Placed>> exact = new HashMap<>();
    private final Map<String, List<Placed>> below = new HashMap<>();
    private final Map<String, EgressRule.Addresses> addresses = new LinkedHashMap<>();

    public Evaluator(EgressPolicy policy) {
        dryRun = policy.dryRun();
        for (int i = 0; i < policy.allow().size(); i++) {
            String place = "allow[" + i + "]";
            switch (policy.allow().get(i)) {
                case EgressRule.Host host -> add(place, host);
                case EgressRule.Named named -> named.preset().rules().forEach(r -> add(place, r));
                case EgressRule.Addresses range -> addresses.put(place, range);
            }
        }
    }

    private void add(String place, EgressRule.Host rule) {
        (rule.host().below() ? below : exact)
                .computeIfAbsent(rule.host().name(), _ -> new ArrayList<>())
                .add(new Placed(place, rule));
    }

    /** Whether what the rules refuse is recorded only. */
    public boolean isDryRun() {
        return dryRun;
    }

    /** Whether a name is answered at all: when it may be reached on some port. */
    public EgressDecision dns(String name) {
        Optional<String> host = host(name);
        if (host.isEmpty()) {
            return invalid();
        }
        List<Placed> rules = rules(host.get());
        return rules.isEmpty()
                ? refuse(EgressReason.NAME_NOT_ALLOWED, Check.NONE)
                : allow(rules.getFirst().place(), Check.NONE, mayBePrivate(rules));
    }

    /** A connection to a name. */
    public EgressDecision connect(String name, int port) {
        Optional<String> host = host(name);
        if (host.isEmpty()) {
            return invalid();
        }
        List<Placed> named = rules(host.get());
        List<Placed> rules = on(named, port);
        if (rules.isEmpty()) {
            return refuse(
                    named.isEmpty() ? EgressReason.NAME_NOT_ALLOWED : EgressReason.PORT_NOT_ALLOWED,
                    Check.NONE);
        }
        boolean looksAtRequests = rules.stream().noneMatch(r -> r.rule().http().isEmpty());
        return allow(rules.getFirst().place(), check(port, looksAtRequests), mayBePrivate(rules));
    }

    private static Check check(int port, boolean looksAtRequests) {
        if (port == TLS_PORT) {
            return looksAtRequests ? Check.TLS_REQUESTS : Check.TLS_NAME;
        }
        return looksAtRequests || port == HTTP_PORT ? Check.HTTP_REQUESTS : Check.NONE;
    }

    /** Names, and names above others, whose TLS may have to be looked into. */
    public Set<String> interceptedNames() {
        return Stream.of(exact, below)
                .flatMap(rules -> rules.values().stream())
                .flatMap(List::stream)
                .map(Placed::rule)
                .filter(r -> !r.http().isEmpty() && r.ports().contains(TLS_PORT))
                .map(r -> r.host().name())
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * A connection to an address that was given for no name. A range lets private addresses be
     * reached only when it lies in a private one: 0.0.0.0/0 means the Internet.
     */
    public EgressDecision connect(int address, int port) {
        return addresses.entrySet().stream()
                .filter(e -> e.getValue().cidr().contains(address))
                .filter(e -> e.getValue().ports().contains(port))
                .findFirst()
                .map(e -> allow(e.getKey(), Check.NONE, isPrivate(e.getValue())))
                .orElseGet(() -> refuse(EgressReason.ADDRESS_NOT_ALLOWED, Check.NONE));
    }

    /**
     * One HTTP request on a connection to a name.
     *
     * @param target as the request has it, in origin form
     */
    public EgressDecision http(String name, int port, String method, String target) {
        EgressDecision connection = connect(name, port);
        if (connection.verdict() != Verdict.ALLOW) {
            return connection;
        }
        List<Placed> rules = on(rules(host(name).orElseThrow()), port);
        Optional<String> path = RequestPath.of(target);
        for (Placed placed : rules) {
            if (placed.rule().http().isEmpty()
                    || placed.rule().http().stream().anyMatch(m -> matches(m, method, path))) {
                return allow(placed.place(), Check.HTTP_REQUESTS, connection.mayBePrivate());
            }
        }
        return refuse(
                path.isEmpty() ? EgressReason.PATH_AMBIGUOUS : EgressReason.REQUEST_NOT_ALLOWED,
                Check.HTTP_REQUESTS);
    }

    private static boolean matches(HttpMatch match, String method, Optional<String> path) {
        String plain = match.path().equals(HttpMatch.ANY_PATH) ? "/" : path.orElse(null);
        return plain != null && match.matches(method, plain);
    }

    private static Optional<String> host(String name) {
        try {
            return Optional.of(HostName.of(name));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Exact rules, then those of the nearest parent, and so on. */
    private List<Placed> rules(String host) {
        List<Placed> found = new ArrayList<>(exact.getOrDefault(host, List.of()));
        for (int dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
            found.addAll(below.getOrDefault(host.substring(dot + 1), List.of()));
        }
        return found;
    }

    private static List<Placed> on(List<Placed> rules, int port) {
        return rules.stream().filter(r -> r.rule().ports().contains(port)).toList();
    }

    private static boolean mayBePrivate(List<Placed> rules) {
        return rules.stream().anyMatch(r -> r.rule().mayBePrivate());
    }

    private static boolean isPrivate(EgressRule.Addresses rule) {
        return SpecialRanges.isPrivate(rule.cidr());
    }

    private static EgressDecision allow(String place, Check check, boolean mayBePrivate) {
        return new EgressDecision(
                Verdict.ALLOW, Optional.of(place), EgressReason.ALLOWED, check, mayBePrivate);
    }

    private EgressDecision refuse(EgressReason reason, Check check) {
        Verdict verdict = dryRun ? Verdict.DRY_RUN_DENY : Verdict.DENY;
        return new EgressDecision(verdict, Optional.empty(), reason, check, false);
    }

    /** Never let through: there is no host of such a name. */
    private static EgressDecision invalid() {
        return new EgressDecision(
                Verdict.DENY, Optional.empty(), EgressReason.NAME_INVALID, Check.NONE, false);
    }
}
