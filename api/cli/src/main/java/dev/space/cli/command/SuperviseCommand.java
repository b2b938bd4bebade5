package dev.space.cli.command;

import dev.space.cli.supervisor.Supervisor;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "supervise",
        hidden = true,
        description = "The background process of `up`; also the main process of a systemd unit.")
public final class SuperviseCommand implements Callable<Integer> {

    @Mixin PlatformOptions options;

    @Option(names = "--then-down", description = "Adopt what lives, then take everything down.")
    boolean thenDown;

    @Option(names = "--force", description = "Stop even what cannot be paused.")
    boolean forced;

    @Option(names = "--nodes", paramLabel = "N", description = "How many nodes to run.")
    @Nullable Integer nodes;

    @Override
    public Integer call() {
        PlatformOptions.demandRoot("supervise");
        return new Supervisor(options.platform(), nodes, forced).run(thenDown);
    }
}
