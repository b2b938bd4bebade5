package dev.space.cli.command;

import dev.space.cli.platform.Json;
import dev.space.client.Session;
import dev.space.client.SpaceClient;
import java.util.List;
import picocli.CommandLine.Command;

@Command(
        name = "list",
        mixinStandardHelpOptions = true,
        description = "Lists the sessions of the key's project.")
public final class ListCommand extends SessionCommand {

    @Override
    int run(SpaceClient client) {
        List<Session> sessions = client.sessions();
        if (json) {
            printJson(Json.MAPPER.valueToTree(sessions));
        } else {
            sessions.forEach(this::print);
        }
        return 0;
    }
}
