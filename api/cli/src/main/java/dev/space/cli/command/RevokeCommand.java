package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.client.SpaceClient;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "revoke",
        mixinStandardHelpOptions = true,
        description = {
            "Takes a credential from a session, also while it runs; what the session may reach stays as",
            "it is."
        })
public final class RevokeCommand extends SessionCommand {

    @Parameters(index = "0", paramLabel = "ID", description = "The session.")
    String id = "";

    @Parameters(index = "1", paramLabel = "NAME", description = "The credential.")
    String name = "";

    @Override
    int run(SpaceClient client) {
        JsonNode answer = client.delete(GrantCommand.path(id, name));
        if (json) {
            printJson(answer);
        }
        GrantCommand.tell(answer);
        return 0;
    }
}
