package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.client.SpaceClient;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "snapshots",
        mixinStandardHelpOptions = true,
        description = {
            "Lists the snapshots of a session, newest first.",
            "FULL has memory and disk; going back to a DISK one boots from it."
        })
public final class SnapshotsCommand extends SessionCommand {

    @Parameters(paramLabel = "ID", description = "The session.")
    String id = "";

    @Override
    int run(SpaceClient client) {
        JsonNode list = client.snapshots(id);
        if (json) {
            printJson(list);
            return 0;
        }
        for (JsonNode snapshot : list.path("snapshots")) {
            System.out.printf(
                    "%s %s %s %s%s%s%s%n",
                    snapshot.path("id").asText(),
                    snapshot.path("takenAt").asText(),
                    snapshot.path("kind").asText(),
                    snapshot.path("reason").asText(),
                    snapshot.path("durability").asText().equals("DURABLE") ? " DURABLE" : "",
                    snapshot.path("marks").isEmpty() ? "" : " (not quiesced)",
                    snapshot.has("name") ? " " + snapshot.path("name").asText() : "");
        }
        return 0;
    }
}
