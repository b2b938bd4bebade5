package dev.space.cli.command;

import dev.space.cli.platform.Platform;
import dev.space.cli.supervisor.SupervisorHandle;
import dev.space.client.ApiException;
import dev.space.client.CreateSession;
import dev.space.client.RunProcess;
import dev.space.client.SpaceClient;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
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

    @Option(names = "--keep", description = "Keep the session; its id is printed on stderr.")
    boolean keep;

    @Option(names = "--timeout", paramLabel = "SECONDS", description = "Ends the command then.")
    @Nullable Long timeoutSeconds;

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
        AtomicReference<@Nullable String> owned = new AtomicReference<>();
        Thread onInterrupt = new Thread(() -> destroy(client, owned));
        Runtime.getRuntime().addShutdownHook(onInterrupt);
        String id =
                client.create(new CreateSession(template, size, null, env.isEmpty() ? null : env))
                        .id();
        if (keep) {
            System.err.println(id);
        } else {
            owned.set(id);
        }
        Long millis = timeoutSeconds == null ? null : timeoutSeconds * 1000;
        RunProcess command = new RunProcess(argv, null, null, null, millis, null, null);
        try {
            return new StreamedProcess(client, id).run(command);
        } finally {
            destroy(client, owned);
        }
    }

    private static void destroy(SpaceClient client, AtomicReference<@Nullable String> owned) {
        String id = owned.getAndSet(null);
        if (id != null) {
            try {
                client.destroy(id);
            } catch (ApiException e) {
                System.err.println("space: " + id + " was not destroyed: " + e.getMessage());
            }
        }
    }
}
