package dev.space.cli.command;

import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.client.ApiException;
import dev.space.client.SpaceClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** What is done with one snapshot. */
@Command(
        name = "snapshot",
        mixinStandardHelpOptions = true,
        description = "Deletes a snapshot, checks one in the object store, or exports its key.",
        subcommands = {
            SnapshotCommand.Delete.class,
            SnapshotCommand.Verify.class,
            SnapshotKeyCommand.class
        })
public final class SnapshotCommand implements Callable<Integer> {

    @Spec CommandSpec spec;

    @Override
    public Integer call() {
        throw new ParameterException(
                spec.commandLine(), "say what: snapshot delete, snapshot verify, snapshot key");
    }

    /** From the list, its node and the object store. */
    @Command(
            name = "delete",
            mixinStandardHelpOptions = true,
            description = {
                "Deletes snapshots of a session; what other snapshots share stays.",
                "Refused for what the session would resume or recover from."
            })
    public static final class Delete extends SessionCommand {

        @Parameters(index = "0", paramLabel = "ID", description = "The session.")
        String id = "";

        @Parameters(
                index = "1..*",
                arity = "1..*",
                paramLabel = "SNAPSHOT",
                description = "From `space snapshots ID`.")
        List<String> snapshots = new ArrayList<>();

        @Override
        int run(SpaceClient client) {
            int code = 0;
            for (String snapshot : snapshots) {
                try {
                    client.deleteSnapshot(id, snapshot);
                } catch (ApiException e) {
                    // Of many, those that can be deleted are.
                    System.err.println("space: " + e.getMessage() + " [" + e.code() + "]");
                    code = 1;
                }
            }
            return code;
        }
    }

    /** Needs the object store and its key, no other part of the platform. */
    @Command(
            name = "verify",
            mixinStandardHelpOptions = true,
            description = {
                "Checks one snapshot in the object store; docs/storage-format.md says how.",
                "Exit code 0: good, 1: damaged, 2: could not be checked."
            })
    public static final class Verify implements Callable<Integer> {

        @Mixin PlatformOptions options;

        @Option(
                names = "--manifest",
                required = true,
                paramLabel = "NAME",
                description = "Name of its manifest object, as its row has it.")
        String manifest = "";

        @Option(
                names = "--digest",
                required = true,
                paramLabel = "SHA256",
                description = "Digest of its manifest object, as its row has it.")
        String digest = "";

        @Option(
                names = "--key-file",
                paramLabel = "FILE",
                description = "The lineage's key in hexadecimal digits: opens every chunk.")
        String keyFile = "";

        @Override
        public Integer call() throws Exception {
            PlatformOptions.demandRoot("snapshot verify");
            Platform platform = options.platform();
            Path config = platform.run().resolve("node-worker.properties");
            if (!Files.isReadable(config)) {
                throw new PlatformException(
                        config + " is not there: start the platform once (./space up)");
            }
            String home = platform.release().resolve("node").toString();
            List<String> argv =
                    new ArrayList<>(
                            List.of(
                                    platform.jdk().resolve("bin/java").toString(),
                                    "--enable-native-access=ALL-UNNAMED",
                                    "-cp",
                                    home + "/*:" + home + "/lib/*",
                                    "dev.space.durable.VerifyMain",
                                    "--config",
                                    config.toString(),
                                    "--manifest",
                                    manifest,
                                    "--digest",
                                    digest));
            if (!keyFile.isEmpty()) {
                argv.add("--key-file");
                argv.add(keyFile);
            }
            return new ProcessBuilder(argv).inheritIO().start().waitFor();
        }
    }
}
