package dev.space.cli.command;

import dev.space.client.SpaceClient;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The lifecycle commands on one session, which differ in their verb only. */
public abstract class LifecycleCommand extends SessionCommand {

    @Parameters(paramLabel = "ID", description = "The session.")
    String id = "";

    @Override
    final int run(SpaceClient client) {
        print(client, client.command(id, getClass().getSimpleName().toLowerCase(Locale.ROOT)));
        return 0;
    }

    @Command(
            name = "pause",
            mixinStandardHelpOptions = true,
            description = "Stops a session's VM; memory, processes and files are kept.")
    public static final class Pause extends LifecycleCommand {}

    @Command(
            name = "resume",
            mixinStandardHelpOptions = true,
            description = "Continues a paused session where it was.")
    public static final class Resume extends LifecycleCommand {}

    @Command(
            name = "checkpoint",
            mixinStandardHelpOptions = true,
            description = "Takes a full checkpoint of a running session.")
    public static final class Checkpoint extends LifecycleCommand {}

    @Command(
            name = "suspend",
            mixinStandardHelpOptions = true,
            description = {
                "Pauses a session and keeps it in the object store; it is on no node then.",
                "Waits until every part of it is there and verified."
            })
    public static final class Suspend extends LifecycleCommand {}

    @Command(
            name = "recover",
            mixinStandardHelpOptions = true,
            description = "Brings a failed session back from its last checkpoint.")
    public static final class Recover extends LifecycleCommand {}
}
