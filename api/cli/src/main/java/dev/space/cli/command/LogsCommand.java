package dev.space.cli.command;

import dev.space.cli.platform.Json;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "logs",
        mixinStandardHelpOptions = true,
        description = "Shows what the platform's processes wrote. Needs root.")
public final class LogsCommand implements Callable<Integer> {

    @Mixin PlatformOptions options;

    @Parameters(
            arity = "0..1",
            paramLabel = "PROCESS",
            description =
                    "postgres, temporal, objects, control, node-manager, gateway, node-worker (of further"
                            + " nodes: node-worker-2 and so on), supervisor.")
    @Nullable String process;

    @Option(names = "-f", description = "Follow.")
    boolean follow;

    @Option(
            names = "-n",
            paramLabel = "LINES",
            defaultValue = "40",
            description = "How many lines.")
    int lines;

    @Option(names = "--json", description = "One object a line: process, line.")
    boolean json;

    @Spec CommandSpec spec;

    /** A line of a log as JSON. */
    record Line(String process, String line) {}

    @Override
    public Integer call() throws Exception {
        if (lines < 0) {
            throw new ParameterException(spec.commandLine(), "-n takes 0 or more");
        }
        PlatformOptions.demandRoot("logs");
        List<Path> files = files(options.platform());
        if (json) {
            return printJson(files);
        }
        return new ProcessBuilder(tail(files)).inheritIO().start().waitFor();
    }

    private List<String> tail(List<Path> files) {
        List<String> argv = new ArrayList<>(List.of("tail", "-n", Integer.toString(lines)));
        if (follow) {
            argv.add("-F");
        }
        argv.addAll(files.stream().map(Path::toString).toList());
        return argv;
    }

    /** One after another, or all at once where they are followed. */
    private int printJson(List<Path> files) throws Exception {
        List<Thread> printers = new ArrayList<>();
        for (Path file : files) {
            Process tail =
                    new ProcessBuilder(tail(List.of(file)))
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start();
            Thread printer = Thread.ofPlatform().start(() -> printJson(name(file), tail));
            printers.add(printer);
            if (!follow) {
                printer.join();
            }
        }
        for (Thread printer : printers) {
            printer.join();
        }
        return 0;
    }

    private static void printJson(String process, Process tail) {
        try (BufferedReader reader = tail.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                System.out.println(Json.MAPPER.writeValueAsString(new Line(process, line)));
                if (System.out.checkError()) {
                    return; // Nobody reads any more.
                }
            }
        } catch (IOException e) {
            System.err.println("space: " + process + " is not followed any more: " + e);
        }
    }

    private static String name(Path log) {
        String file = String.valueOf(log.getFileName());
        return file.substring(0, file.length() - ".log".length());
    }

    private static String names(Platform platform) throws IOException {
        try (Stream<Path> all = Files.list(platform.log())) {
            return all.filter(p -> p.toString().endsWith(".log"))
                    .map(LogsCommand::name)
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
