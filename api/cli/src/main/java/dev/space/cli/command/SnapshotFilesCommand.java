package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.client.SpaceClient;
import java.io.IOException;
import java.io.InputStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "snapshot-files",
        mixinStandardHelpOptions = true,
        description = {
            "Shows a file of a snapshot without going back to it: what a directory holds,",
            "or the bytes of a file, which go to standard output."
        })
public final class SnapshotFilesCommand extends SessionCommand {

    @Parameters(index = "0", paramLabel = "ID", description = "The session.")
    String id = "";

    @Parameters(index = "1", paramLabel = "SNAPSHOT", description = "One of its snapshots.")
    String snapshot = "";

    @Parameters(
            index = "2",
            paramLabel = "PATH",
            defaultValue = "/",
            description = "Absolute; / by default.")
    String path = "/";

    @Override
    int run(SpaceClient client) {
        JsonNode file = client.snapshotFile(id, snapshot, path);
        if (!file.path("kind").asText().equals("directory")) {
            copy(client);
            return 0;
        }
        String after = null;
        do {
            JsonNode page = client.snapshotFiles(id, snapshot, path, after);
            if (json) {
                printJson(page);
            } else {
                page.path("files").forEach(SnapshotFilesCommand::print);
            }
            JsonNode files = page.path("files");
            after =
                    page.path("truncated").asBoolean()
                            ? files.path(files.size() - 1).path("path").asText()
                            : null;
        } while (after != null);
        return 0;
    }

    private void copy(SpaceClient client) {
        try (InputStream content = client.snapshotContent(id, snapshot, path)) {
            content.transferTo(System.out);
            System.out.flush();
        } catch (IOException cut) {
            throw new IllegalStateException("the file was cut off: " + cut.getMessage(), cut);
        }
    }

    private static void print(JsonNode file) {
        System.out.printf(
                "%s %s %s %10d %s %s%s%n",
                file.path("mode").asText(),
                file.path("owner").asText(),
                file.path("group").asText(),
                file.path("size").asLong(),
                file.path("modifiedAt").asText(),
                file.path("path").asText(),
                file.has("symlinkTarget") ? " -> " + file.path("symlinkTarget").asText() : "");
    }
}
