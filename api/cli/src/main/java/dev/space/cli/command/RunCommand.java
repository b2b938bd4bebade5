package dev.space.cli.command;

import dev.space.cli.platform.Platform;
import dev.space.cli.supervisor.SupervisorHandle;
import dev.space.client.CreateSession;
import dev.space.client.RunProcess;
import dev.space.client.SpaceClient;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        description = {
            "Runs one command in a sandbox of its own: starts the platform if it is not up, creates",
            "a session, passes stdin, stdout, stderr and the exit code through, destroys the session",
            "at the end (also on Ctrl-C). Nothing but the command writes to stdout."
        },
        footer = {
            "",
            "Examples:",
            "  ./space run -- python3 -c 'print(6*7)'",
            "  ./space run -- sh -c 'uname -a; nproc'      a shell line needs a shell",
            "  tar c src | ./space run -- tar t            stdin goes to the command",
            "  ./space run --keep --size medium -- true    keeps the session for `exec`",
            "  ./space run --allow-preset python -- pip install six",
            "  ./space run --credential api -- curl https://api.example.com/   see `credential`",
            "",
            "Exit code: the command's; 128 + n for signal n, 124 after --timeout, 127 no such command,",
            "130 on Ctrl-C; 1 when the platform failed (told on stderr), 2 for a wrong command line."
        })
public final class RunCommand implements Callable<Integer> {

    @Mixin PlatformOptions options;

    @Parameters(arity = "1..*", paramLabel = "CMD", description = "The command, after --.")
    List<String> argv = new ArrayList<>();

    @Option(names = "--template", defaultValue = "default", description = "Default: default.")
    String template = "default";

    @Option(names = "--size", description = "xs, small, medium or large.")
    @Nullable String size;

    @Option(names = "--env", paramLabel = "K=V", description = "A variable; may be repeated.")
    Map<String, String> env = new LinkedHashMap<>();

    @Mixin NetworkOptions network;

    @Mixin CredentialOptions credentials;

    @Option(names = "--keep", description = "Keep the session; its id is printed on stderr.")
    boolean keep;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            converter = TimeoutMillis.class,
            description = "Ends the command then.")
    @Nullable Long timeoutMillis;

    @Override
    public Integer call() {
        Platform platform = options.platform();
        if (!ApiAccess.isRemote()) {
            SupervisorHandle handle = new SupervisorHandle(platform, new Progress());
            if (!handle.isReady()) {
                PlatformOptions.demandRoot("run");
                handle.up();
            }
        }
        try (SpaceClient client = ApiAccess.open(platform)) {
            return runIn(client);
        }
    }

    private int runIn(SpaceClient client) {
        CreateSession request =
                new CreateSession(
                        template,
                        size,
                        null,
                        env.isEmpty() ? null : env,
                        keep ? null : OwnSession.LEFT_ALONE,
                        null,
                        credentials.policy(client, network.policy()));
        try (OwnSession session = new OwnSession(client, keep)) {
            String id = session.create(request);
            session.whileOwned(() -> {
                credentials.grant(client, id);
                return id;
            });
            RunProcess command = new RunProcess(argv, null, null, null, timeoutMillis, null, null);
            return session.whileOwned(() -> new StreamedProcess(client, id).run(command));
        }
    }
}
