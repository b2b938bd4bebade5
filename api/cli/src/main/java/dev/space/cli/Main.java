package dev.space.cli;

import dev.space.cli.config.ConfigException;
import dev.space.cli.platform.PlatformException;
import dev.space.client.ApiException;
import picocli.CommandLine;

/** Entry point: parses, runs, turns a failure into one line on stderr and an exit code. */
public final class Main {

    /** The command itself was wrong. */
    static final int EXIT_USAGE = 2;

    /** The platform or the API refused or failed. */
    static final int EXIT_FAILED = 1;

    private Main() {}

    public static void main(String[] args) {
        System.exit(execute(args));
    }

    static int execute(String... args) {
        CommandLine line = new CommandLine(new RootCommand());
        line.setExecutionExceptionHandler((failure, command, parsed) -> {
            command.getErr().println("space: " + explain(failure));
            return EXIT_FAILED;
        });
        return line.execute(args);
    }

    private static String explain(Exception failure) {
        return switch (failure) {
            case ApiException api -> api.getMessage() + " [" + api.code() + "]";
            case PlatformException platform -> String.valueOf(platform.getMessage());
            case ConfigException config -> String.valueOf(config.getMessage());
            default -> "unexpected: " + failure;
        };
    }
}
