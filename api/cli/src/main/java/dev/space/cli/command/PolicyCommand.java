package dev.space.cli.command;

import dev.space.client.SpaceClient;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "policy",
        mixinStandardHelpOptions = true,
        description = {
            "Changes what the platform does with a session by itself; what is not named stays.",
            "`never` ends a policy."
        },
        footer = {
            "",
            "Examples:",
            "  ./space policy ID --idle 600:suspend --auto-resume=true",
            "  ./space policy ID --durable-every never"
        })
public final class PolicyCommand extends SessionCommand {

    @Parameters(paramLabel = "ID", description = "The session.")
    String id = "";

    @Option(
            names = "--idle",
            paramLabel = "SECONDS[:ACTION]",
            description = "When nothing happened for that long: pause, suspend or destroy.")
    @Nullable String idle;

    @Option(
            names = "--deadline",
            paramLabel = "SECONDS[:ACTION]",
            description = "When that time from now is over: pause, suspend or destroy.")
    @Nullable String deadline;

    @Option(
            names = "--durable-every",
            paramLabel = "SECONDS",
            description = "Store it in the object store that often while it runs, from 30.")
    @Nullable String durableEvery;

    @Option(
            names = "--auto-resume",
            paramLabel = "true|false",
            description = "Whether a call resumes it when it is paused or suspended.")
    @Nullable Boolean autoResume;

    @Spec CommandSpec spec;

    @Override
    int run(SpaceClient client) {
        Map<String, @Nullable Object> changes = new LinkedHashMap<>();
        if (idle != null) {
            changes.put("idle", AfterTime.change(spec.commandLine(), "--idle", idle));
        }
        if (deadline != null) {
            changes.put("deadline", AfterTime.change(spec.commandLine(), "--deadline", deadline));
        }
        if (durableEvery != null) {
            changes.put("durability", durability(durableEvery));
        }
        if (autoResume != null) {
            changes.put("autoResume", autoResume);
        }
        if (changes.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "say what is to be changed");
        }
        print(client, client.changePolicies(id, changes));
        return 0;
    }

    private @Nullable Map<String, Long> durability(String text) {
        if (text.equals(AfterTime.NEVER)) {
            return null;
        }
        if (!text.matches("[0-9]{1,9}")) {
            throw new ParameterException(
                    spec.commandLine(), "--durable-every takes SECONDS or never, not " + text);
        }
        return Map.of("everySeconds", Long.parseLong(text));
    }
}
