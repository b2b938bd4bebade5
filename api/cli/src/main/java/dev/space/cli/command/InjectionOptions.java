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
            names = "--region",
            description = "With --sigv4: such as eu-central-1; the one that signatures are for.")
    @Nullable String region;

    @Option(
            names = "--service",
            description = "With --sigv4: such as s3, dynamodb, execute-api, bedrock.")
    @Nullable String service;

    ObjectNode json(CommandLine line) {
        List<ObjectNode> given = new ArrayList<>();
        if (bearer) {
            given.add(kind("header", "name", "authorization").put("prefix", "Bearer "));
        }
        if (header != null) {
            given.add(kind("header", "name", header));
            if (prefix != null) {
                given.getLast().put("prefix", prefix);
            }
        }
        if (basic != null) {
            given.add(kind("basic", "user", basic));
        }
        if (query != null) {
            given.add(kind("query", "name", query));
        }
        if (placeholder != null) {
            given.add(kind("placeholder", "text", placeholder));
        }
        if (sigv4 != null) {
            given.add(sigv4(line, sigv4));
        }
        if (given.size() != 1 || (prefix != null && header == null)) {
            throw new ParameterException(
                    line,
                    "give one of --bearer, --header [--prefix], --basic, --query, --placeholder,"
                            + " --sigv4");
        }
        if (sigv4 == null && (region != null || service != null)) {
            throw new ParameterException(line, "--region and --service go with --sigv4");
        }
        return given.getFirst();
    }

    private ObjectNode sigv4(CommandLine line, String accessKeyId) {
        if (region == null || service == null) {
            throw new ParameterException(line, "--sigv4 needs --region and --service");
        }
        return kind("sigv4", "accessKeyId", accessKeyId)
                .put("region", region)
                .put("service", service);
    }

    private static ObjectNode kind(String kind, String field, String value) {
        return Json.MAPPER.createObjectNode().put("kind", kind).put(field, value);
    }
}
