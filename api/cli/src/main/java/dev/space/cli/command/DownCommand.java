package dev.space.cli.command;

import dev.space.cli.supervisor.SupervisorHandle;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "down",
        mixinStandardHelpOptions = true,
        description = {
            "Pauses every running session, stops every process in order, and leaves no process,",
            "mount, namespace or loop device behind. `up` resumes the sessions. Nothing is stopped",
            "while a session that runs cannot be paused; the refusal says which and why. Needs root."
        })
public final class DownCommand implements Callable<Integer> {

    @Mixin PlatformOptions options;

    @Option(
            names = "--force",
            description =
                    "Stop all the same: what such a session did since its last snapshot is lost.")
    boolean force;

    @Override
    public Integer call() {
        PlatformOptions.demandRoot("down");
        Progress progress = new Progress();
        boolean wasUp = new SupervisorHandle(options.platform(), progress).down(force);
        progress.accept(wasUp ? "down" : "nothing was up");
        return 0;
    }
}
