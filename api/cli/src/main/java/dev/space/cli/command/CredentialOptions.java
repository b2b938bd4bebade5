package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.space.cli.platform.Json;
import dev.space.client.SpaceClient;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Credentials that a new session may use from its beginning. */
final class CredentialOptions {

    @Option(
            names = "--credential",
            paramLabel = "NAME",
            description = {
                "It may use this credential, and reach the hosts that this is for. Repeatable;",
                "`space credential list` names those that there are."
            })
    List<String> names = new ArrayList<>();

    /** A grant opens no host, so each credential's hosts are added to what may be reached. */
    @Nullable ObjectNode policy(SpaceClient client, @Nullable ObjectNode policy) {
        if (names.isEmpty()) {
            return policy;
        }
        ObjectNode with = policy == null ? Json.MAPPER.createObjectNode() : policy;
        ArrayNode allow = with.withArray("allow");
        for (String name : names) {
            JsonNode hosts =
                    client.get("/v1/credentials/" + SpaceClient.encode(name)).path("hosts");
            for (JsonNode host : hosts) {
                ObjectNode rule = allow.addObject();
                rule.set("host", host.path("host"));
                if (host.has("ports")) {
                    rule.set("ports", host.path("ports"));
                } else {
                    rule.putArray("ports").add(443);
                }
            }
            System.err.println("space: it may use " + name + " and reach " + shown(hosts));
        }
        return with;
    }

    private static String shown(JsonNode hosts) {
        return StreamSupport.stream(hosts.spliterator(), false)
                .map(host -> host.path("host").asText())
                .collect(Collectors.joining(", "));
    }

    /** Before anything is done in the session. */
    void grant(SpaceClient client, String session) {
        for (String name : names) {
            var _ = client.put(GrantCommand.path(session, name), Json.MAPPER.createObjectNode());
        }
    }
}
