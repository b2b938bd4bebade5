package dev.space.cli.command;

import dev.space.client.Session;
import dev.space.client.SpaceClient;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "get",
        mixinStandardHelpOptions = true,
        description = {
            "Shows one session and what the loss of its node would leave of it;",
            "with --json everything the API says of it."
        })
public final class GetCommand extends SessionCommand {

    @Parameters(paramLabel = "ID", description = "The session.")
    String id = "";

    @Override
    int run(SpaceClient client) {
        if (json) {
            printJson(client.sessionAsJson(id));
        } else {
            Session session = client.session(id);
            print(client, session);
            System.out.println(outlives(session));
        }
        return 0;
    }

    /** What the loss of its node would leave. */
    private static String outlives(Session session) {
        Session.Durable durable = session.durable();
        String durability = session.durability() == null ? "NONE" : session.durability();
        return durable == null
                ? "durability " + durability
                : "durability %s: %s of %s"
                        .formatted(durability, durable.snapshot(), durable.takenAt());
    }
}
