package dev.space.cli.command;

import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "logs",
        mixinStandardHelpOptions = true,
        description = "Shows what the platform's processes wrote. Needs root.")
public final class LogsCommand implements Callable<Integer> {

    @Mixin PlatformOptions options;

    @Parameters(
            arity = "0..1",
            paramLabel = "PROCESS",
            description = "postgres, temporal, control, node-manager, node-worker, supervisor.")
    @Nullable String process;

    @Option(names = "-f", description = "Follow.")
    boolean follow;

    @Option(
            names = "-n",
            paramLabel = "LINES",
            defaultValue = "40",
            description = "How many lines.")
    int lines;

    @Override
    public Integer call() throws Exception {
        PlatformOptions.demandRoot("logs");
        Platform platform = options.platform();
        List<String> argv = new ArrayList<>(List.of("tail", "-n", Integer.toString(lines)));
        if (follow) {
            argv.add("-F");
        }
        argv.addAll(files(platform).stream().map(Path::toString).toList());
        return new ProcessBuilder(argv).inheritIO().start().waitFor();
    }

    private static String names(Platform platform) throws IOException {
        try (Stream<Path> all = Files.list(platform.log())) {
            return all.map(p -> String.valueOf(p.getFileName()))
                    .filter(n -> n.endsWith(".log"))
                    .map(n -> n.substring(0, n.length() - ".log".length()))
                    .sorted()
                    .collect(Collectors.joining(", "));
        }
    }

    private List<Path> files(Platform platform) throws IOException {
        if (!Files.isDirectory(platform.log())) {
            throw new PlatformException("no logs at " + platform.log() + ": never started");
        }
        try (Stream<Path> all = Files.list(platform.log())) {
            List<Path> found =
                    all.filter(p -> p.toString().endsWith(".log"))
                            .filter(p -> process == null || p.endsWith(process + ".log"))
                            .sorted()
                            .toList();
            if (found.isEmpty()) {
                throw new PlatformException(
                        "no log of %s in %s; there are: %s"
                                .formatted(process, platform.log(), names(platform)));
            }
            return found;
        }
    }
}
