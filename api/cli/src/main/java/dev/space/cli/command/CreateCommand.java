package dev.space.cli.command;

import dev.space.client.ApiException;
import dev.space.client.CreateSession;
import dev.space.client.Session;
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
            "  ./space create --allow api.example.com --allow-preset python",
            "  ./space create --credential api      see `space credential --help`"
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

    @Mixin CredentialOptions credentials;

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
        Session session =
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
                                credentials.policy(client, network.policy())));
        try {
            credentials.grant(client, session.id());
        } catch (ApiException e) {
            // Half of what was asked for is nothing that anybody wants.
            client.destroy(session.id());
            throw e;
        }
        print(client, session);
        return 0;
    }
}
