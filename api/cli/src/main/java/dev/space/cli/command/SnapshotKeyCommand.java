package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.cli.platform.PlatformException;
import dev.space.client.SpaceClient;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The keys of stored snapshots. */
@Command(
        name = "key",
        mixinStandardHelpOptions = true,
        description = "Exports the key that opens a snapshot in the object store.",
        subcommands = SnapshotKeyCommand.Export.class)
public final class SnapshotKeyCommand implements Callable<Integer> {

    @Spec CommandSpec spec;

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "say what: snapshot key export");
    }

    /** Into a file that did not exist, so that no terminal, pipe or log ever has it. */
    @Command(
            name = "export",
            mixinStandardHelpOptions = true,
            description = {
                "Writes the key of a stored snapshot into a new file, for `snapshot verify`.",
                "It opens all that the session and its forks stored. The export is an event."
            })
    public static final class Export implements Callable<Integer> {

        @Mixin PlatformOptions options;

        @Parameters(
                index = "0",
                paramLabel = "SNAPSHOT",
                description = "From `space snapshots ID`.")
        String snapshot = "";

        @Option(
                names = "--out",
                required = true,
                paramLabel = "FILE",
                description = "A file that does not exist; its mode will be 0600.")
        Path out = Path.of("");

        @Override
        public Integer call() throws IOException {
            PlatformOptions.demandRoot("snapshot key export");
            try (SpaceClient client = ApiAccess.operator(options.platform());
                    FileChannel file = create(out)) {
                try {
                    export(client, file);
                } catch (IOException | RuntimeException e) {
                    Files.deleteIfExists(out);
                    throw e;
                }
            }
            return 0;
        }

        private void export(SpaceClient client, FileChannel file) throws IOException {
            String id = URLEncoder.encode(snapshot, StandardCharsets.UTF_8);
            JsonNode answer = client.post("/v1/snapshots/" + id + "/key", null);
            String line = answer.required("key").asText() + "\n";
            ByteBuffer left = ByteBuffer.wrap(line.getBytes(StandardCharsets.US_ASCII));
            while (left.hasRemaining()) {
                file.write(left);
            }
            file.force(true);
            System.out.printf(
                    "./space snapshot verify --manifest %s --digest %s --key-file %s%n",
                    answer.required("manifest").asText(), answer.required("digest").asText(), out);
        }

        /** Before the key is asked for: what cannot be written is not exported. */
        static FileChannel create(Path out) throws IOException {
            try {
                return FileChannel.open(
                        out,
                        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString("rw-------")));
            } catch (FileAlreadyExistsException e) {
                throw new PlatformException(
                        out + " exists; the key is written into a new file only", e);
            }
        }
    }
}
