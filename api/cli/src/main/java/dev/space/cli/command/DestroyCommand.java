package dev.space.cli.command;

import dev.space.client.ApiException;
import dev.space.client.SpaceClient;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "destroy",
        mixinStandardHelpOptions = true,
        description = "Destroys sessions with all their contents.")
public final class DestroyCommand extends SessionCommand {

    @Parameters(arity = "1..*", paramLabel = "ID", description = "The sessions.")
    List<String> ids = new ArrayList<>();

    @Override
    int run(SpaceClient client) {
        int code = 0;
        for (String id : ids) {
            try {
                client.destroy(id);
            } catch (ApiException e) {
                // Of many, those that can be destroyed are.
                System.err.println("space: " + e.getMessage() + " [" + e.code() + "]");
                code = 1;
            }
        }
        return code;
    }
}
