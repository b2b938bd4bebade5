package dev.space.cli;

import dev.space.cli.config.ConfigException;
import dev.space.cli.platform.PlatformException;
import dev.space.client.ApiException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import picocli.CommandLine;
import picocli.CommandLine.PicocliException;

/** Entry point: parses, runs, turns a failure into one line on stderr and an exit code. */
public final class Main {

    /** The command itself was wrong. */
    static final int EXIT_USAGE = 2;

    /** The platform or the API refused or failed. */
    static final int EXIT_FAILED = 1;

    /** What the longest line of a description needs. */
    private static final int HELP_COLUMNS = 100;

    private Main() {}

    public static void main(String[] args) {
        System.exit(execute(args));
    }

    static int execute(String... args) {
        CommandLine line = new CommandLine(new RootCommand()).setUsageHelpWidth(HELP_COLUMNS);
        line.setExecutionExceptionHandler((failure, command, parsed) -> {
            command.getErr().println("space: " + explain(failure));
            return failure instanceof PicocliException ? CommandLine.ExitCode.USAGE : EXIT_FAILED;
        });
        return line.execute(args);
    }

    private static String nextStep(String code) {
        return switch (code) {
            case "NOT_REACHABLE" -> ": is the platform up? (./space status, ./space up)";
            case "UNAUTHENTICATED" ->
                    ": root's key is in DATA/secrets/api-key, others set SPACE_API_KEY";
            default -> "";
        };
    }

    private static String explain(Exception failure) {
        return switch (failure) {
            case ApiException api ->
                    api.getMessage() + " [" + api.code() + "]" + nextStep(api.code());
            case PlatformException platform -> String.valueOf(platform.getMessage());
            case ConfigException config -> String.valueOf(config.getMessage());
            case PicocliException usage -> String.valueOf(usage.getMessage());
            case NoSuchFileException file -> "there is no file " + file.getMessage();
            case AccessDeniedException file -> "may not be read: " + file.getMessage();
            default -> "unexpected: " + failure;
        };
    }
}
