package dev.space.cli.command;

import dev.space.client.CreateSession;
import dev.space.client.SpaceClient;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
        name = "create",
        mixinStandardHelpOptions = true,
        description = "Creates a session, waits until it runs, and prints its id and state.",
        footer = {
            "",
            "Examples:",
            "  id=$(./space create | cut -d' ' -f1)",
            "  ./space create --size medium --label team=blue --env TOKEN=abc",
            "  ./space create --allow api.example.com --allow-preset python"
        })
public final class CreateCommand extends SessionCommand {

    @Option(names = "--template", defaultValue = "default", description = "Default: default.")
    String template = "default";

    @Option(names = "--size", description = "xs, small, medium or large.")
    @Nullable String size;

    @Option(names = "--label", paramLabel = "K=V", description = "A label; may be repeated.")
    Map<String, String> labels = new LinkedHashMap<>();

    @Option(names = "--env", paramLabel = "K=V", description = "A variable; may be repeated.")
    Map<String, String> env = new LinkedHashMap<>();

    @Option(
            names = "--durable-every",
            paramLabel = "SECONDS",
            description = "Store it in the object store that often while it runs, from 30.")
    @Nullable Long durableEvery;

    @Option(
            names = "--idle",
            paramLabel = "SECONDS[:ACTION]",
            description = {
                "When nothing happened in it for that long, from 10: pause (the default), suspend",
                "(paused first, suspended after the same time again) or destroy."
            })
    @Nullable String idle;

    @Mixin NetworkOptions network;

    @Spec CommandSpec spec;

    private CreateSession.@Nullable Idle idle() {
        if (idle == null) {
            return null;
        }
        AfterTime after = AfterTime.of(spec.commandLine(), "--idle", idle);
        return new CreateSession.Idle(after.seconds(), after.action());
    }

    @Override
    int run(SpaceClient client) {
        print(
                client,
                client.create(
                        new CreateSession(
                                template,
                                size,
                                labels.isEmpty() ? null : labels,
                                env.isEmpty() ? null : env,
                                idle(),
                                durableEvery == null
                                        ? null
                                        : new CreateSession.Durability(durableEvery),
                                network.policy())));
        return 0;
    }
}
