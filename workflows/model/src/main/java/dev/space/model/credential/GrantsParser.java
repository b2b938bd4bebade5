package dev.space.model.credential;

import static dev.space.model.json.JsonTree.refuse;

import dev.space.model.Ids;
import dev.space.model.OrganisationId;
import dev.space.model.ProjectId;
import dev.space.model.egress.EgressPolicy;
import dev.space.model.egress.HostPattern;
import dev.space.model.egress.HttpMatch;
import dev.space.model.json.JsonTree;
import dev.space.model.json.JsonTree.Node;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** JSON to record, strictly: an unknown field could mean less than the sender thinks. */
final class GrantsParser {

    private static final String NAME = "grants";

    private GrantsParser() {}

    static CredentialGrants parse(String json) {
        Node document =
                JsonTree.readAny(
                        json, NAME, CredentialGrants.JSON_CHARS_MAX, Material.Sealed.CHARS_MAX);
        List<CredentialGrant> grants = new ArrayList<>();
        for (Node grant : document.items(CredentialGrants.GRANTS_MAX)) {
            grants.add(grant(grant));
        }
        return checked(NAME, () -> new CredentialGrants(grants));
    }

    private static CredentialGrant grant(Node grant) {
        grant.only(
                "credentialId",
                "scope",
                "version",
                "name",
                "hosts",
                "methods",
                "path",
                "injection",
                "limit",
                "expires",
                "sealed",
                "vault");
        Optional<Node> expires = grant.field("expires");
        String id = needed(grant, "credentialId").text(GrantsParser::id);
        String scope = needed(grant, "scope").text(GrantsParser::scope);
        long version = needed(grant, "version").number(1, Long.MAX_VALUE);
        String name = needed(grant, "name").text(CredentialGrant::checkedName);
        CredentialUse use = use(grant);
        Material material = material(grant);
        return checked(
                grant.path(),
                () ->
                        new CredentialGrant(
                                id,
                                scope,
                                version,
                                name,
                                use,
                                expires.isEmpty()
                                        ? OptionalLong.empty()
                                        : OptionalLong.of(expires.get().number(0, Long.MAX_VALUE)),
                                material));
    }

    static CredentialUse use(Node holder) {
        return new CredentialUse(
                hosts(holder),
                HttpMatch.of(holder),
                injection(needed(holder, "injection")),
                holder.field("limit").map(GrantsParser::limit));
    }

    private static UseLimit limit(Node limit) {
        limit.only("requests", "per");
        long requests = needed(limit, "requests").number(1, UseLimit.REQUESTS_MAX);
        return new UseLimit(
                (int) requests,
                needed(limit, "per").text(text -> one(UseLimit.Per.values(), p -> p.wire(), text)));
    }

    private static String id(String text) {
        if (!Ids.isValid(CredentialGrant.ID_PREFIX, text)) {
            throw new IllegalArgumentException("not a credential's id");
        }
        return text;
    }

    private static String scope(String text) {
        if (!Ids.isValid(ProjectId.PREFIX, text) && !Ids.isValid(OrganisationId.PREFIX, text)) {
            throw new IllegalArgumentException("not the id of a project or an organisation");
        }
        return text;
    }

    static List<GrantedHost> hosts(Node holder) {
        List<GrantedHost> hosts = new ArrayList<>();
        for (Node host : holder.items("hosts", CredentialUse.HOSTS_MAX)) {
            host.only("host", "ports");
            HostPattern pattern = needed(host, "host").text(HostPattern::of);
            Set<Integer> ports = new TreeSet<>();
            for (Node port : host.itemsOrAll("ports", EgressPolicy.PORTS_MAX)) {
                ports.add((int) port.number(1, 65_535));
            }
            hosts.add(
                    new GrantedHost(
                            pattern,
                            ports.isEmpty() ? GrantedHost.PORTS_DEFAULT : List.copyOf(ports)));
        }
        if (hosts.isEmpty()) {
            throw refuse(holder.path() + ".hosts", "name at least one host");
        }
        return hosts;
    }

    static Injection injection(Node injection) {
        String kind = needed(injection, "kind").text(text -> text);
        return switch (kind) {
            case "header" -> {
                injection.only("kind", "name", "prefix");
                String name = needed(injection, "name").text(text -> text);
                String prefix =
                        injection.field("prefix").map(p -> p.<String>text(t -> t)).orElse("");
                yield checked(injection.path(), () -> new Injection.Header(name, prefix));
            }
            case "basic" -> {
                injection.only("kind", "user");
                yield needed(injection, "user").<Injection>text(Injection.Basic::new);
            }
            case "query" -> {
                injection.only("kind", "name");
                yield needed(injection, "name").<Injection>text(Injection.Query::new);
            }
            case "placeholder" -> {
                injection.only("kind", "text");
                yield needed(injection, "text").<Injection>text(Injection.Placeholder::new);
            }
            case "oauth2" -> oauth2(injection);
            case "jwt" -> jwt(injection);
            case "sigv4" -> {
                injection.only("kind", "accessKeyId", "region", "service");
                String key = needed(injection, "accessKeyId").text(text -> text);
                String region = needed(injection, "region").text(text -> text);
                String service = needed(injection, "service").text(text -> text);
                yield checked(injection.path(), () -> new Injection.Sigv4(key, region, service));
            }
            default ->
                    throw refuse(
                            injection.path() + ".kind",
                            "must be one of " + String.join(", ", Injection.KINDS));
        };
    }

    private static Injection oauth2(Node injection) {
        injection.only("kind", "grant", "tokenUrl", "clientId", "scope", "audience", "clientAuth");
        Injection.OAuth2.Grant grant =
                needed(injection, "grant")
                        .text(text -> one(Injection.OAuth2.Grant.values(), g -> g.wire(), text));
        TokenUrl url = needed(injection, "tokenUrl").text(TokenUrl::of);
        String client = needed(injection, "clientId").text(text -> text);
        String how = optional(injection, "clientAuth");
        if (!List.of("", "basic", "body").contains(how)) {
            throw refuse(injection.path() + ".clientAuth", "must be basic or body");
        }
        return checked(
                injection.path(),
                () ->
                        new Injection.OAuth2(
                                grant,
                                url,
                                client,
                                optional(injection, "scope"),
                                optional(injection, "audience"),
                                how.equals("body")));
    }

    private static Injection jwt(Node injection) {
        injection.only(
                "kind", "algorithm", "issuer", "subject", "audience", "scope", "keyId", "tokenUrl");
        Injection.Jwt.Algorithm algorithm =
                needed(injection, "algorithm")
                        .text(text -> one(Injection.Jwt.Algorithm.values(), Enum::name, text));
        String issuer = needed(injection, "issuer").text(text -> text);
        Optional<TokenUrl> url =
                injection.field("tokenUrl").map(node -> node.<TokenUrl>text(TokenUrl::of));
        return checked(
                injection.path(),
                () ->
                        new Injection.Jwt(
                                algorithm,
                                issuer,
                                optional(injection, "subject"),
                                optional(injection, "audience"),
                                optional(injection, "scope"),
                                optional(injection, "keyId"),
                                url));
    }

    private static String optional(Node holder, String field) {
        return holder.field(field).map(node -> node.<String>text(text -> text)).orElse("");
    }

    private static <T> T one(T[] values, Function<T, String> name, String text) {
        for (T value : values) {
            if (name.apply(value).equals(text)) {
                return value;
            }
        }
        throw new IllegalArgumentException(
                "must be one of "
                        + Arrays.stream(values).map(name).collect(Collectors.joining(", ")));
    }

    private static Material material(Node grant) {
        Optional<Node> sealed = grant.field("sealed");
        Optional<Node> vault = grant.field("vault");
        if (sealed.isPresent() == vault.isPresent()) {
            throw refuse(grant.path(), "has exactly one of sealed and vault");
        }
        if (sealed.isPresent()) {
            return sealed.get().text(Material.Sealed::new);
        }
        Node place = vault.orElseThrow();
        place.only("path", "version");
        long version = needed(place, "version").number(1, Long.MAX_VALUE);
        return needed(place, "path").text(path -> new Material.Vault(path, version));
    }

    static Node needed(Node holder, String field) {
        return holder.field(field)
                .orElseThrow(() -> refuse(holder.path() + "." + field, "is missing"));
    }

    private static <T> T checked(String path, Supplier<T> made) {
        try {
            return made.get();
        } catch (IllegalArgumentException e) {
            throw refuse(path, String.valueOf(e.getMessage()));
        }
    }
}
