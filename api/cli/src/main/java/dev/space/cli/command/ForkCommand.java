package dev.space.cli.command;

import dev.space.client.ForkSession;
import dev.space.client.SpaceClient;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "fork",
        mixinStandardHelpOptions = true,
        description = {
            "Makes sessions that continue from this one: the same files, memory and processes.",
            "Prints each one's id and state; exits with 1 when one could not be made."
        },
        footer = {
            "",
            "Examples:",
            "  ./space fork $id --count 3",
            "  ./space fork $id --snapshot SNAPSHOT --env VARIANT=b"
        })
public final class ForkCommand extends SessionCommand {

    @Parameters(index = "0", paramLabel = "ID", description = "The session.")
    String id = "";

    @Option(names = "--count", defaultValue = "1", description = "Sessions to make; default: 1.")
    int count = 1;

    @Option(
            names = "--snapshot",
            description = "From this moment: an id from `space snapshots ID`. Default: now.")
    @Nullable String snapshot;

    @Option(
            names = "--label",
            paramLabel = "K=V",
            description = "Laid over the session's labels; may be repeated.")
    Map<String, String> labels = new LinkedHashMap<>();

    @Option(
            names = "--env",
            paramLabel = "K=V",
            description = "Laid over the session's variables; may be repeated.")
    Map<String, String> env = new LinkedHashMap<>();

    @Option(
            names = "--inherit-grants",
            description = "They may use the credentials that the session may use; else none.")
    boolean inheritGrants;

    @Override
    int run(SpaceClient client) {
        return print(
                client.fork(
                        id,
                        new ForkSession(
                                count,
                                snapshot,
                                labels.isEmpty() ? null : labels,
                                env.isEmpty() ? null : env,
                                inheritGrants ? true : null)));
    }
}
