package dev.space.model.egress;

import static dev.space.model.json.JsonTree.refuse;

import dev.space.model.json.JsonTree;
import dev.space.model.json.JsonTree.Node;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** JSON to record, strictly: an unknown field is a mistake that must not widen or narrow a rule. */
final class PolicyParser {

    private PolicyParser() {}

    static EgressPolicy parse(String json) {
        Node policy = JsonTree.read(json, "network", EgressPolicy.JSON_CHARS_MAX);
        policy.only("allow", "limits", "dryRun");
        List<EgressRule> rules = new ArrayList<>();
        for (Node rule : policy.items("allow", EgressPolicy.RULES_MAX)) {
            rules.add(rule(rule));
        }
        if (rules.stream().mapToInt(EgressRule::size).sum() > EgressPolicy.RULES_MAX) {
            throw refuse(
                    "network.allow",
                    "has more than " + EgressPolicy.RULES_MAX + " rules with its presets expanded");
        }
        EgressLimits limits =
                policy.field("limits").map(PolicyParser::limits).orElse(EgressLimits.DEFAULT);
        boolean dryRun = policy.field("dryRun").map(Node::truth).orElse(false);
        return new EgressPolicy(rules, limits, dryRun);
    }

    private static EgressRule rule(Node rule) {
        long kinds =
                Stream.of("host", "cidr", "preset").filter(k -> rule.field(k).isPresent()).count();
        if (kinds != 1) {
            throw refuse(rule.path(), "has exactly one of host, cidr and preset");
        }
        Optional<Node> host = rule.field("host");
        if (host.isPresent()) {
            return host(rule, host.get());
        }
        Optional<Node> cidr = rule.field("cidr");
        if (cidr.isPresent()) {
            rule.only("cidr", "ports");
            Cidr range = cidr.get().text(Cidr::parse);
            List<Integer> ports = ports(rule, List.of());
            if (ports.isEmpty()) {
                throw refuse(rule.path() + ".ports", "must be named for a cidr");
            }
            return new EgressRule.Addresses(range, ports);
        }
        rule.only("preset");
        return new EgressRule.Named(rule.field("preset").orElseThrow().text(PolicyParser::preset));
    }

    private static EgressRule.Host host(Node rule, Node host) {
        rule.only("host", "ports", "private", "http");
        List<HttpMatch> http = new ArrayList<>();
        for (Node match : rule.itemsOrAll("http", EgressPolicy.HTTP_MAX)) {
            http.add(http(match));
        }
        return new EgressRule.Host(
                host.text(HostPattern::of),
                ports(rule, EgressRule.HOST_PORTS_DEFAULT),
                rule.field("private").map(Node::truth).orElse(false),
                http);
    }

    private static HttpMatch http(Node match) {
        match.only("methods", "path");
        return HttpMatch.of(match);
    }

    private static EgressPreset preset(String text) {
        return EgressPreset.named(text)
                .orElseThrow(() ->
                        new IllegalArgumentException(
                                "no preset of that name; there are "
                                        + Stream.of(EgressPreset.values())
                                                .map(EgressPreset::wireName)
                                                .collect(Collectors.joining(", "))));
    }

    private static List<Integer> ports(Node rule, Collection<Integer> otherwise) {
        Set<Integer> ports = new TreeSet<>();
        for (Node port : rule.itemsOrAll("ports", EgressPolicy.PORTS_MAX)) {
            ports.add((int) port.number(1, 65_535));
        }
        if (ports.isEmpty()) {
            ports.addAll(otherwise);
        }
        return List.copyOf(ports);
    }

    private static EgressLimits limits(Node limits) {
        limits.only("connections", "bytes", "requestsPerSecond");
        int connections =
                limits.field("connections")
                        .map(n -> (int) n.number(1, EgressLimits.CONNECTIONS_MAX))
                        .orElse(EgressLimits.CONNECTIONS_DEFAULT);
        OptionalLong bytes =
                limits.field("bytes")
                        .map(n -> OptionalLong.of(n.number(1, Long.MAX_VALUE)))
                        .orElse(OptionalLong.empty());
        OptionalInt requests =
                limits.field("requestsPerSecond")
                        .map(n -> n.number(1, EgressLimits.REQUESTS_PER_SECOND_MAX))
                        .map(n -> OptionalInt.of(n.intValue()))
                        .orElse(OptionalInt.empty());
        return new EgressLimits(connections, bytes, requests);
    }
}
