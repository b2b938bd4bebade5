package dev.space.manager;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs the few programs that node-manager needs, with an empty environment and a time-out. */
final class Commands {

    /** What came out, cut to a bound. */
    record Result(int exit, String output, String error) {

        boolean ok() {
            return exit == 0;
        }
    }

    private static final int OUTPUT_BYTES_MAX = 64 << 10;

    private Commands() {}

    static Result run(Duration timeout, String input, List<String> command) throws IOException {
        Path error = Files.createTempFile("space-manager", ".err");
        try {
            ProcessBuilder builder = new ProcessBuilder(command).redirectError(error.toFile());
            builder.environment().clear();
            builder.environment().put("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
            builder.environment().put("LC_ALL", "C");
            Process process = builder.start();
            try (var stdin = process.getOutputStream()) {
                stdin.write(input.getBytes(StandardCharsets.UTF_8));
            }
            if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
                throw new IOException(command.getFirst() + " did not end in " + timeout);
            }
            String output;
            try (InputStream stdout = process.getInputStream()) {
                output = new String(stdout.readNBytes(OUTPUT_BYTES_MAX), StandardCharsets.UTF_8);
            }
            return new Result(process.exitValue(), output, head(error));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(command.getFirst() + " was interrupted", e);
        } finally {
            Files.deleteIfExists(error);
        }
    }

    /** Runs and insists on success. */
    static void check(Duration timeout, String input, List<String> command) throws IOException {
        Result result = run(timeout, input, command);
        if (!result.ok()) {
            throw new IOException(String.join(" ", command) + " failed: " + result.error().strip());
        }
    }

    /** The beginning of a file of which anybody may have written any bytes. */
    static String head(Path file) throws IOException {
        if (!Files.exists(file)) {
            return "";
        }
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(16 << 10), StandardCharsets.UTF_8);
        }
    }
}
