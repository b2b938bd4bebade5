package dev.space.bench.gateway;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Programs that are waited for. */
final class Commands {

    private Commands() {}

    /** Fails with what the program said when it fails or takes too long. */
    static void run(Duration max, String input, List<String> command) throws IOException {
        Path log = Files.createTempFile("space-bench", ".log");
        try {
            Process process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(log.toFile())
                            .start();
            process.getOutputStream().write(input.getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().close();
            process.onExit().completeOnTimeout(process, max.toSeconds(), TimeUnit.SECONDS).join();
            if (process.isAlive()) {
                process.destroyForcibly();
                throw new IOException(command.getFirst() + " takes longer than " + max);
            }
            if (process.exitValue() != 0) {
                String said = Files.readString(log).strip();
                throw new IOException(
                        command.getFirst()
                                + " ended with "
                                + process.exitValue()
                                + ": "
                                + said.substring(said.lastIndexOf('\n') + 1));
            }
        } finally {
            Files.delete(log);
        }
    }
}
