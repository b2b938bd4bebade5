package dev.space.bench.gateway;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The peer: mitmproxy from PyPI in a virtual environment under the cache, in the same place of the
 * same network. It is told where to go (reverse mode), which is less work than to find out.
 */
final class Mitmproxy implements AutoCloseable {

    static final int PORT = 8443;

    /** The newest one that Debian 12's Python runs. */
    private static final String VERSION = "11.0.2";

    private static final Duration ENVIRONMENT_MAX = Duration.ofMinutes(2);
    private static final Duration INSTALL_MAX = Duration.ofMinutes(8);
    private static final Duration AUTHORITY_MAX = Duration.ofSeconds(60);
    private static final int LOOK_AGAIN_MILLIS = 100;
    private static final int END_SECONDS = 10;

    private final Process process;

    private Mitmproxy(Process process) {
        this.process = process;
    }

    /** Its program, installed if it is not there. */
    static Path install(Path cache) throws IOException {
        Path home = cache.resolve("bench").resolve("mitmproxy-" + VERSION);
        Path program = home.resolve("bin/mitmdump");
        // Written last: an environment without it is of an installation that was broken off.
        Path complete = home.resolve("complete");
        if (Files.exists(complete)) {
            return program;
        }
        System.err.println("space: installing mitmproxy " + VERSION + " into " + home);
        Files.createDirectories(home);
        Commands.run(
                ENVIRONMENT_MAX, "", List.of("python3", "-m", "venv", "--clear", home.toString()));
        Commands.run(
                INSTALL_MAX,
                "",
                List.of(
                        home.resolve("bin/pip").toString(),
                        "install",
                        "--quiet",
                        "--disable-pip-version-check",
                        "mitmproxy==" + VERSION));
        Files.createFile(complete);
        return program;
    }

    /**
     * Starts it in the outside.
     *
     * @param state its own authority is made there
     * @param root of the server that it connects to
     * @param more what makes the mode
     */
    static Mitmproxy start(
            Path program,
            Namespaces namespaces,
            String name,
            Path state,
            Path root,
            List<String> more)
            throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                program.toString(),
                                "--quiet",
                                "--mode",
                                "reverse:https://" + name + ":443@" + PORT,
                                "--set",
                                "stream_large_bodies=1m",
                                "--set",
                                "confdir=" + state,
                                "--set",
                                "ssl_verify_upstream_trusted_ca=" + root));
        command.addAll(more);
        Process process =
                new ProcessBuilder(namespaces.inOutside(command))
                        .redirectErrorStream(true)
                        .redirectOutput(Redirect.appendTo(state.resolve("log").toFile()))
                        .start();
        Mitmproxy started = new Mitmproxy(process);
        try {
            started.await(authority(state));
        } catch (IOException e) {
            started.close();
            throw new IOException(
                    e.getMessage() + ": " + Files.readString(state.resolve("log")).strip(), e);
        }
        return started;
    }

    /** What a client must trust to use it. */
    static Path authority(Path state) {
        return state.resolve("mitmproxy-ca-cert.pem");
    }

    private void await(Path file) throws IOException {
        long end = System.nanoTime() + AUTHORITY_MAX.toNanos();
        while (!Files.exists(file)) {
            try {
                if (process.waitFor(LOOK_AGAIN_MILLIS, TimeUnit.MILLISECONDS)) {
                    throw new IOException("mitmproxy ended with " + process.exitValue());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
            if (System.nanoTime() > end) {
                throw new IOException("mitmproxy made no authority in " + AUTHORITY_MAX);
            }
        }
    }

    @Override
    public void close() {
        GatewayRig.end(process, END_SECONDS);
    }
}
