package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.client.RunProcess;
import dev.space.client.SpaceClient;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "exec",
        mixinStandardHelpOptions = true,
        description = {
            "Runs a command in a session and waits for it: stdin, stdout, stderr and exit code are",
            "its own. With --json one answer with the output in it (capped, and no stdin). On Ctrl-C",
            "the command is ended and the session stays."
        },
        footer = {
            "",
            "Examples (ID: what `create` or `list` prints):",
            "  ./space exec ID -- sh -c 'echo hello > note; ls -l'",
            "  ./space exec ID --cwd /tmp --env A=1 -- env"
        })
public final class ExecCommand extends SessionCommand {

    @Parameters(index = "0", paramLabel = "ID", description = "The session.")
    String id = "";

    @Parameters(index = "1..*", arity = "1..*", paramLabel = "CMD", description = "After --.")
    List<String> argv = new ArrayList<>();

    @Option(names = "--env", paramLabel = "K=V", description = "A variable; may be repeated.")
    Map<String, String> env = new LinkedHashMap<>();

    @Option(names = "--cwd", paramLabel = "DIR", description = "Working directory.")
    @Nullable String cwd;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            converter = TimeoutMillis.class,
            description = "Ends the command then.")
    @Nullable Long timeoutMillis;

    @Override
    int run(SpaceClient client) throws Exception {
        Map<String, String> variables = env.isEmpty() ? null : env;
        RunProcess command = new RunProcess(argv, variables, cwd, null, timeoutMillis, null, null);
        if (!json) {
            StreamedProcess process = new StreamedProcess(client, id);
            AtomicBoolean over = new AtomicBoolean();
            // On Ctrl-C the command ends with us; the session stays.
            Runtime.getRuntime()
                    .addShutdownHook(
                            new Thread(() -> {
                                if (!over.get()) {
                                    process.end();
                                }
                            }));
            try {
                return process.run(command);
            } finally {
                over.set(true);
            }
        }
        JsonNode answer = client.exec(id, command);
        printJson(answer);
        return StreamedProcess.exitCode(answer);
    }
}
