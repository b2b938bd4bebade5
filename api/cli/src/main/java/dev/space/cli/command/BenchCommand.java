package dev.space.cli.command;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(name = "bench", mixinStandardHelpOptions = true, description = "Measures the platform.")
public final class BenchCommand implements Callable<Integer> {

    @Mixin PlatformOptions options;

    @Override
    public Integer call() {
        return 1;
    }
}
