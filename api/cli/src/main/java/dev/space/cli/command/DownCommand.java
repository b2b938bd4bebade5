package dev.space.cli.command;

import dev.space.cli.supervisor.SupervisorHandle;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "down",
        mixinStandardHelpOptions = true,
        description = {
            "Pauses every running session, stops every process in order, and leaves no process,",
            "mount, namespace or loop device behind. `up` resumes the sessions. Needs root."
        })
public final class DownCommand implements Callable<Integer> {

    @Mixin PlatformOptions options;

    @Override
    public Integer call() {
        PlatformOptions.demandRoot("down");
        Progress progress = new Progress();
        boolean wasUp = new SupervisorHandle(options.platform(), progress).down();
        progress.accept(wasUp ? "down" : "nothing was up");
        return 0;
    }
}
