package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.space.cli.platform.Json;
import dev.space.client.SpaceClient;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "grant",
        mixinStandardHelpOptions = true,
        description = {
            "Lets a session use a credential, also while it runs; without NAME, prints what it may use.",
            "A grant opens no host: what the session may reach is `space network`'s."
        },
        footer = {
            "",
            "Examples:",
            "  ./space grant $id api --for 1h",
            "  ./space grant $id",
            "  ./space revoke $id api"
        })
public final class GrantCommand extends SessionCommand {

    @Parameters(index = "0", paramLabel = "ID", description = "The session.")
    String id = "";

    @Parameters(index = "1", arity = "0..1", paramLabel = "NAME", description = "The credential.")
    @Nullable String name;

    @Option(
            names = "--for",
            paramLabel = "TIME",
            description = "Such as 90s, 30m, 1h or 7d. Default: until `space revoke`.")
    @Nullable String time;

    @Spec CommandSpec spec;

    static String path(String session, String name) {
        return "/v1/sessions/"
                + SpaceClient.encode(session)
                + "/grants/"
                + SpaceClient.encode(name);
    }

    @Override
    int run(SpaceClient client) {
        if (name == null) {
            return list(client);
        }
        ObjectNode body = Json.MAPPER.createObjectNode();
        if (time != null) {
            body.put("seconds", seconds(time));
        }
        JsonNode answer = client.put(path(id, name), body);
        if (json) {
            printJson(answer);
        } else {
            printLine(answer);
        }
        tell(answer);
        return 0;
    }

    private int list(SpaceClient client) {
        JsonNode answer = client.get("/v1/sessions/" + SpaceClient.encode(id) + "/grants");
        if (json) {
            printJson(answer);
        } else {
            answer.path("grants").forEach(GrantCommand::printLine);
        }
        return 0;
    }

    static void tell(JsonNode answer) {
        if (answer.has("applied") && !answer.path("applied").asBoolean()) {
            System.err.println("space: the sandbox's node is told within seconds; not yet");
        }
    }

    private static void printLine(JsonNode grant) {
        String end = grant.has("expires") ? " until " + grant.path("expires").asText() : "";
        System.out.println(grant.path("credential").asText() + end);
    }

    private long seconds(String text) {
        if (!text.matches("[0-9]{1,9}[smhd]")) {
            throw new ParameterException(
                    spec.commandLine(), "--for takes a time such as 90s, 30m, 1h or 7d");
        }
        long number = Long.parseLong(text.substring(0, text.length() - 1));
        return switch (text.charAt(text.length() - 1)) {
            case 's' -> number;
            case 'm' -> number * 60;
            case 'h' -> number * 3_600;
            default -> number * 86_400;
        };
    }
}
