package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.client.ChangesQuery;
import dev.space.client.SpaceClient;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "changes",
        mixinStandardHelpOptions = true,
        description = {
            "Lists the files of a session that were added (A), modified (M) and deleted (D):",
            "since its template until now, or between snapshots. Paths are percent-encoded."
        })
public final class ChangesCommand extends SessionCommand {

    @Parameters(paramLabel = "ID", description = "The session.")
    String id = "";

    @Option(
            names = "--from",
            paramLabel = "SNAPSHOT",
            description = "Compare with it instead of with the template.")
    @Nullable String from;

    @Option(
            names = "--to",
            paramLabel = "SNAPSHOT",
            description = "Compare it instead of what is now.")
    @Nullable String to;

    @Option(names = "--hash", description = "Add the SHA-256 of what was added or modified.")
    boolean hash;

    @Override
    int run(SpaceClient client) {
        String cursor = null;
        do {
            JsonNode page = client.changes(id, new ChangesQuery(from, to, hash, cursor));
            if (json) {
                printJson(page);
            } else {
                page.path("changes").forEach(ChangesCommand::print);
            }
            cursor = page.hasNonNull("cursor") ? page.get("cursor").asText() : null;
        } while (cursor != null);
        return 0;
    }

    private static void print(JsonNode change) {
        String kind = change.path("change").asText();
        StringBuilder line = new StringBuilder();
        line.append(Character.toUpperCase(kind.charAt(0))).append(' ');
        line.append(change.path("file").path("path").asText());
        if (change.has("what")) {
            line.append(" (");
            String separator = "";
            for (JsonNode what : change.path("what")) {
                line.append(separator).append(what.asText());
                separator = ", ";
            }
            line.append(')');
        }
        if (change.has("sha256")) {
            line.append(' ').append(change.path("sha256").asText());
        }
        System.out.println(line);
    }
}
