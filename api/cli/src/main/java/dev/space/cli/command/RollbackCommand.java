package dev.space.cli.command;

import dev.space.client.SpaceClient;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "rollback",
        mixinStandardHelpOptions = true,
        description = {
            "Takes a session back to one of its snapshots; it runs afterwards.",
            "The present is kept as a snapshot first, so that a rollback can be rolled back."
        })
public final class RollbackCommand extends SessionCommand {

    @Parameters(index = "0", paramLabel = "ID", description = "The session.")
    String id = "";

    @Parameters(
            index = "1",
            paramLabel = "SNAPSHOT",
            description = "Where to go back to: an id from `space snapshots ID`.")
    String snapshot = "";

    @Option(
            names = "--accept-loss",
            description = "Go back even where the present cannot be kept as a snapshot.")
    boolean acceptLoss;

    @Override
    int run(SpaceClient client) {
        print(client, client.rollback(id, snapshot, acceptLoss));
        return 0;
    }
}
