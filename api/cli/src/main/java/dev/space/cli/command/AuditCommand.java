package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.cli.platform.Json;
import dev.space.client.SpaceClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The chain of what was done. */
@Command(
        name = "audit",
        mixinStandardHelpOptions = true,
        description = {
            "Exports or checks the organisation's chain of records: who did what, when. Each link has",
            "the hash of the one before, so a record that was changed or removed later shows. Records",
            "of other projects are in it as digests only."
        },
        subcommands = {AuditCommand.Export.class, AuditCommand.Verify.class})
public final class AuditCommand implements Callable<Integer> {

    private static final int PAGE = 1_000;

    @Spec CommandSpec spec;

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "say what: audit export or audit verify");
    }

    /** What is done with each line. */
    @FunctionalInterface
    private interface Lines {
        /** Answers whether to go on. */
        boolean take(JsonNode line) throws IOException;
    }

    /** First who the chain belongs to, then every link. */
    private static void read(SpaceClient client, Lines lines) throws IOException {
        long after = 0;
        boolean first = true;
        while (true) {
            JsonNode page = client.get("/v1/audit?limit=" + PAGE + "&after=" + after);
            if (first) {
                first = false;
                lines.take(
                        Json.MAPPER
                                .createObjectNode()
                                .put("organisation", page.path("organisation").asText())
                                .put("project", page.path("project").asText()));
            }
            if (page.path("links").isEmpty()) {
                return;
            }
            for (JsonNode link : page.path("links")) {
                if (!lines.take(link)) {
                    return;
                }
                after = link.path("position").asLong();
            }
        }
    }

    /** Lines of JSON. */
    @Command(
            name = "export",
            mixinStandardHelpOptions = true,
            description = {
                "Prints the chain as lines of JSON: first whose it is, then a link each. What was done",
                "in the last seconds may not be in it yet."
            },
            footer = {"", "Example:", "  ./space audit export > audit.jsonl"})
    static final class Export implements Callable<Integer> {

        @Mixin PlatformOptions options;

        @Override
        public Integer call() throws IOException {
            try (SpaceClient client = ApiAccess.open(options.platform())) {
                read(
                        client,
                        line -> {
                            System.out.println(line);
                            return !System.out.checkError();
                        });
            }
            if (System.out.checkError()) {
                System.err.println("space: the output could not be written: it is not whole");
                return 1;
            }
            return 0;
        }
    }

    /** Of a running platform, or of a file. */
    @Command(
            name = "verify",
            mixinStandardHelpOptions = true,
            description = {
                "Checks the chain and prints its last link as POSITION:HASH. Kept elsewhere and given as",
                "--anchor later, that proves that all up to it is still the same: without one, who",
                "rewrote the whole chain is not seen. Says on standard error how many records were seen",
                "whole and how many as digests only, which are another project's. Exit code 0: good,",
                "1: broken."
            },
            footer = {
                "",
                "Examples:",
                "  ./space audit verify --anchor \"$(cat anchor)\" > anchor.new",
                "  ./space audit verify --file audit.jsonl"
            })
    static final class Verify implements Callable<Integer> {

        @Mixin PlatformOptions options;

        @Option(names = "--file", description = "What `audit export` wrote; default: the platform.")
        @Nullable Path file;

        @Option(
                names = "--anchor",
                paramLabel = "POSITION:HASH",
                description = "What an earlier `verify` printed.")
        @Nullable String anchor;

        @Spec CommandSpec spec;

        @Override
        public Integer call() throws IOException {
            if (anchor != null && !anchor.matches("[0-9]{1,18}:[0-9a-f]{64}")) {
                throw new ParameterException(
                        spec.commandLine(), "--anchor is POSITION:HASH, as verify prints it");
            }
            AuditCheck check = new AuditCheck(anchor);
            if (file == null) {
                try (SpaceClient client = ApiAccess.open(options.platform())) {
                    read(client, check::take);
                }
            } else {
                readFile(file, check);
            }
            String fault = check.fault();
            if (fault != null) {
                System.err.println("space: the audit chain is NOT good: " + fault);
                return 1;
            }
            System.err.println("space: " + check.seen());
            System.out.println(check.last());
            return 0;
        }

        private void readFile(Path from, AuditCheck check) throws IOException {
            if (Files.isDirectory(from)) {
                throw new ParameterException(spec.commandLine(), "--file is a directory: " + from);
            }
            try (BufferedReader lines =
                    new BufferedReader(
                            new InputStreamReader(
                                    Files.newInputStream(from), StandardCharsets.UTF_8))) {
                boolean good = true;
                for (String line = lines.readLine();
                        good && line != null;
                        line = lines.readLine()) {
                    good = check.takeText(line);
                }
            }
        }
    }
}
