package dev.space.cli.command;

import dev.space.client.SpaceClient;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Brings back what was suspended; or a moment of the past as a session of its own. */
@Command(
        name = "restore",
        mixinStandardHelpOptions = true,
        description = {
            "Continues a suspended session where it was, on any node.",
            "With --as-new makes a new session that goes on from a snapshot of this one."
        },
        footer = {
            "",
            "Examples:",
            "  ./space restore $id",
            "  ./space restore $id --as-new SNAPSHOT"
        })
public final class RestoreCommand extends SessionCommand {

    @Parameters(paramLabel = "ID", description = "The session.")
    String id = "";

    @Option(
            names = "--as-new",
            paramLabel = "SNAPSHOT",
            description = "An id from `space snapshots ID`; the session itself stays as it is.")
    @Nullable String asNew;

    @Override
    int run(SpaceClient client) {
        if (asNew != null) {
            return print(client.restoreAsNew(id, asNew));
        }
        print(client, client.command(id, "restore"));
        return 0;
    }
}
