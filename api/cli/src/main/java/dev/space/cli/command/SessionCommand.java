package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.cli.platform.Json;
import dev.space.client.Session;
import dev.space.client.SpaceClient;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What the commands on sessions share: one client, and the choice between words and JSON. */
abstract class SessionCommand implements Callable<Integer> {

    @Mixin PlatformOptions options;

    @Option(names = "--json", description = "Print what the API answered.")
    boolean json;

    abstract int run(SpaceClient client) throws Exception;

    @Override
    public final Integer call() throws Exception {
        try (SpaceClient client = ApiAccess.open(options.platform())) {
            return run(client);
        }
    }

    final void print(Session session) {
        if (json) {
            printJson(Json.MAPPER.valueToTree(session));
        } else {
            System.out.printf("%s %s%n", session.id(), session.state());
        }
    }

    static void printJson(JsonNode node) {
        System.out.println(node);
    }
}
