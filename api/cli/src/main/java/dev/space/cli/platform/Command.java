package dev.space.cli.platform;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Runs one system command to its end, bounded in time and output. Never through a shell. */
public final class Command {

    private static final int OUTPUT_BYTES_MAX = 1 << 20;

    /** Exit code and output (both streams) of a command. */
    public record Result(int exitCode, String output) {
        public boolean ok() {
            return exitCode == 0;
        }
    }

    private Command() {}

    /** Runs and answers whatever the exit code is. */
    public static Result run(Duration max, List<String> argv) {
        return run(max, argv, Map.of());
    }

    public static Result run(Duration max, List<String> argv, Map<String, String> env) {
        ProcessBuilder builder = new ProcessBuilder(argv).redirectErrorStream(true);
        builder.environment().putAll(env);
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            CompletableFuture<String> output =
                    CompletableFuture.supplyAsync(() -> read(process.getInputStream()));
            if (!process.waitFor(max.toMillis(), TimeUnit.MILLISECONDS)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
                throw new PlatformException(
                        String.join(" ", argv) + " did not end within " + max.toSeconds() + " s");
            }
            return new Result(process.exitValue(), output.join().strip());
        } catch (IOException e) {
            throw new PlatformException("cannot run " + argv.getFirst() + ": " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new PlatformException("interrupted while " + argv.getFirst() + " ran", e);
        }
    }

    /** Runs and demands success. */
    public static String must(Duration max, String... argv) {
        Result result = run(max, List.of(argv));
        if (!result.ok()) {
            throw new PlatformException(
                    "`%s` failed with code %d: %s"
                            .formatted(String.join(" ", argv), result.exitCode(), result.output()));
        }
        return result.output();
    }

    private static String read(InputStream in) {
        try (in) {
            String text = new String(in.readNBytes(OUTPUT_BYTES_MAX), StandardCharsets.UTF_8);
            in.transferTo(java.io.OutputStream.nullOutputStream());
            return text;
        } catch (IOException e) {
            return "";
        }
    }
}
