package dev.space.cli.command;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.space.cli.platform.Json;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The way in which a secret gets into a request: one of these. */
final class InjectionOptions {

    @Option(names = "--bearer", description = "As the header Authorization: Bearer SECRET.")
    boolean bearer;

    @Option(names = "--header", paramLabel = "NAME", description = "As this header's value.")
    @Nullable String header;

    @Option(
            names = "--prefix",
            paramLabel = "TEXT",
            description = "With --header: stands before the secret.")
    @Nullable String prefix;

    @Option(names = "--basic", paramLabel = "USER", description = "As the password of this user.")
    @Nullable String basic;

    @Option(names = "--query", paramLabel = "NAME", description = "As this query parameter.")
    @Nullable String query;

    @Option(
            names = "--placeholder",
            paramLabel = "TEXT",
            description = "Wherever the sandbox writes this text: header, query or body.")
    @Nullable String placeholder;

    @Option(
            names = "--sigv4",
            paramLabel = "ACCESS_KEY_ID",
            description = {
                "Signs for AWS, and what speaks its protocol, with the secret access key that the",
                "secret is. The sandbox signs with anything: AWS_ACCESS_KEY_ID=x."
            })
    @Nullable String sigv4;

    @Option(
            names = "--oauth2",
            paramLabel = "GRANT",
            description = {
                "client_credentials or refresh_token: the gateway exchanges the secret (the client's",
                "secret; or a refresh token, and on a second line the client's secret if it has one)",
                "for a token, and sends that as bearer. With --token-url, --client-id."
            })
    @Nullable String oauth2;

    @Option(
            names = "--jwt",
            paramLabel = "ALGORITHM",
            description = {
                "RS256 or ES256: the gateway signs a JWT of ten minutes with the private key (PEM)",
                "that the secret is, and sends it as bearer; with --token-url it exchanges it for a",
                "token first. With --issuer."
            })
    @Nullable String jwt;

    @Option(names = "--region", description = "With --sigv4: such as eu-central-1.")
    @Nullable String region;

    @Option(names = "--service", description = "With --sigv4: such as s3, dynamodb, bedrock.")
    @Nullable String service;

    @Option(
            names = "--token-url",
            paramLabel = "URL",
            description = "With --oauth2, --jwt: where tokens are given.")
    @Nullable String tokenUrl;

    @Option(names = "--client-id", paramLabel = "ID", description = "With --oauth2.")
    @Nullable String clientId;

    @Option(
            names = "--client-auth",
            paramLabel = "HOW",
            description = "With --oauth2: basic (default), or body for the form.")
    @Nullable String clientAuth;

    @Option(
            names = "--token-scope",
            paramLabel = "SCOPE",
            description = "With --oauth2, --jwt: what the token shall be good for.")
    @Nullable String tokenScope;

    @Option(names = "--audience", description = "With --oauth2, --jwt: whom the token is for.")
    @Nullable String audience;

    @Option(names = "--issuer", description = "With --jwt: such as the number of a GitHub App.")
    @Nullable String issuer;

    @Option(names = "--subject", description = "With --jwt: on whose behalf.")
    @Nullable String subject;

    @Option(names = "--key-id", paramLabel = "ID", description = "With --jwt: the key's name.")
    @Nullable String keyId;

    /** An option that says more of a way, and which ways these are. */
    private record More(String option, String field, @Nullable String value, List<String> kinds) {}

    private List<More> more() {
        List<String> sigv4 = List.of("sigv4");
        List<String> oauth2 = List.of("oauth2");
        List<String> jwt = List.of("jwt");
        List<String> tokens = List.of("oauth2", "jwt");
        return List.of(
                new More("--prefix", "prefix", prefix, List.of("header")),
                new More("--region", "region", region, sigv4),
                new More("--service", "service", service, sigv4),
                new More("--token-url", "tokenUrl", tokenUrl, tokens),
                new More("--client-id", "clientId", clientId, oauth2),
                new More("--client-auth", "clientAuth", clientAuth, oauth2),
                new More("--token-scope", "scope", tokenScope, tokens),
                new More("--audience", "audience", audience, tokens),
                new More("--issuer", "issuer", issuer, jwt),
                new More("--subject", "subject", subject, jwt),
                new More("--key-id", "keyId", keyId, jwt));
    }

    ObjectNode json(CommandLine line) {
        List<ObjectNode> given = new ArrayList<>();
        if (bearer) {
            given.add(kind("header", "name", "authorization").put("prefix", "Bearer "));
        }
        add(given, "header", "name", header);
        add(given, "basic", "user", basic);
        add(given, "query", "name", query);
        add(given, "placeholder", "text", placeholder);
        add(given, "sigv4", "accessKeyId", sigv4);
        add(given, "oauth2", "grant", oauth2);
        add(given, "jwt", "algorithm", jwt);
        if (given.size() != 1) {
            throw new ParameterException(
                    line,
                    "give one of --bearer, --header [--prefix], --basic, --query, --placeholder,"
                            + " --sigv4, --oauth2, --jwt");
        }
        ObjectNode way = given.getFirst();
        for (More more : more()) {
            if (more.value() != null) {
                if (!more.kinds().contains(way.path("kind").asText()) || way.has(more.field())) {
                    throw new ParameterException(
                            line,
                            more.option() + " goes with --" + String.join(", --", more.kinds()));
                }
                way.put(more.field(), more.value());
            }
        }
        return way;
    }

    private static void add(
            List<ObjectNode> given, String kind, String field, @Nullable String value) {
        if (value != null) {
            given.add(kind(kind, field, value));
        }
    }

    private static ObjectNode kind(String kind, String field, String value) {
        return Json.MAPPER.createObjectNode().put("kind", kind).put(field, value);
    }
}
