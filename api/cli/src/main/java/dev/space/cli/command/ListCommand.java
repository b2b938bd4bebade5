package dev.space.cli.command;

import dev.space.cli.platform.Json;
import dev.space.client.SpaceClient;
import picocli.CommandLine.Command;

@Command(
        name = "list",
        mixinStandardHelpOptions = true,
        description = "Lists the sessions of the key's project.")
public final class ListCommand extends SessionCommand {

    @Override
    int run(SpaceClient client) {
        if (json) {
            printJson(Json.MAPPER.valueToTree(client.sessionsAsJson()));
        } else {
            client.sessions().forEach(session -> print(client, session));
        }
        return 0;
    }
}
