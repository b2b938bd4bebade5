package dev.space.cli.command;

import dev.space.client.SpaceClient;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "get",
        mixinStandardHelpOptions = true,
        description = "Shows one session; with --json everything the API says of it.")
public final class GetCommand extends SessionCommand {

    @Parameters(paramLabel = "ID", description = "The session.")
    String id = "";

    @Override
    int run(SpaceClient client) {
        if (json) {
            printJson(client.sessionAsJson(id));
        } else {
            print(client, client.session(id));
        }
        return 0;
    }
}
