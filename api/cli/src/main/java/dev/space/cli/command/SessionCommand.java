package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.cli.platform.Json;
import dev.space.client.Fork;
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

    /** With --json everything that the API says of the session now. */
    final void print(SpaceClient client, Session session) {
        if (json) {
            printJson(client.sessionAsJson(session.id()));
        } else {
            System.out.printf("%s %s%n", session.id(), session.state());
        }
    }

    /** Each session that was made, or why not; answers the exit code. */
    final int print(Fork fork) {
        if (json) {
            printJson(Json.MAPPER.valueToTree(fork));
        } else {
            fork.children().forEach(SessionCommand::print);
        }
        boolean all = fork.children().stream().allMatch(c -> c.creation().equals("DONE"));
        return all ? 0 : 1;
    }

    private static void print(Fork.Child child) {
        Fork.Failure error = child.error();
        String why = error == null ? "" : " " + error.code() + ": " + error.detail();
        System.out.printf("%s %s%s%n", child.id(), child.state(), why);
    }

    static void printJson(JsonNode node) {
        System.out.println(node);
    }
}
