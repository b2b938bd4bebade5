package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.cli.platform.Json;
import dev.space.client.SpaceClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "network",
        mixinStandardHelpOptions = true,
        description = {
            "Prints what a session may reach, or changes it, also while it runs.",
            "What is given replaces what was there before."
        },
        footer = {
            "",
            "Examples:",
            "  ./space network $id --allow pypi.org --allow '*.pythonhosted.org:443'",
            "  ./space network $id --set policy.json",
            "  ./space network $id --none",
            "  ./space network $id --log"
        })
public final class NetworkCommand extends SessionCommand {

    private static final int LOG_MAX = 100;

    @Parameters(index = "0", paramLabel = "ID", description = "The session.")
    String id = "";

    @Mixin NetworkOptions network;

    @Option(names = "--set", paramLabel = "FILE", description = "The whole policy as JSON.")
    @Nullable Path file;

    @Option(names = "--none", description = "It may reach nothing.")
    boolean none;

    @Option(names = "--log", description = "Prints what it reached and was refused, newest first.")
    boolean log;

    @Spec CommandSpec spec;

    @Override
    int run(SpaceClient client) throws IOException {
        int given = (network.isGiven() ? 1 : 0) + (file == null ? 0 : 1) + (none ? 1 : 0);
        if (given + (log ? 1 : 0) > 1) {
            throw new ParameterException(
                    spec.commandLine(), "give one of --allow…, --set, --none and --log");
        }
        if (log) {
            printLog(client.networkLog(id, LOG_MAX));
            return 0;
        }
        JsonNode answer = given == 0 ? client.network(id) : client.setNetwork(id, policy());
        if (json) {
            printJson(answer);
            return 0;
        }
        System.out.println(answer.has("policy") ? answer.path("policy") : "nothing");
        if (answer.has("applied") && !answer.path("applied").asBoolean()) {
            System.err.println("space: the sandbox's node is told within seconds; not yet");
        }
        return 0;
    }

    private JsonNode policy() throws IOException {
        if (file != null) {
            return Json.MAPPER.readTree(Files.readString(file));
        }
        JsonNode policy = network.policy();
        return policy == null ? Json.MAPPER.createObjectNode() : policy;
    }

    private void printLog(JsonNode answer) {
        if (json) {
            printJson(answer);
            return;
        }
        for (JsonNode entry : answer.path("entries")) {
            System.out.printf(
                    "%s %s %s %s %s%n",
                    entry.path("at").asText(),
                    entry.path("verdict").asText(),
                    entry.path("kind").asText(),
                    entry.path("target").asText(),
                    entry.path("detail").asText());
        }
    }
}
