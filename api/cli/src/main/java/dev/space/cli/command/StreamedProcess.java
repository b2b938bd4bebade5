package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.cli.platform.Pause;
import dev.space.client.ApiException;
import dev.space.client.RunProcess;
import dev.space.client.SpaceClient;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;

/**
 * One process in a session with this process's own stdin, stdout and stderr as its streams, raw and
 * apart. Output is asked for by offset, so a broken connection loses and doubles nothing.
 */
final class StreamedProcess {

    private static final int PIECE_BYTES = 64 << 10;
    private static final int RECONNECTS_MAX = 5;
    private static final Duration RECONNECT_AFTER = Duration.ofMillis(200);
    private static final Duration WAIT = Duration.ofSeconds(30);

    /** What a shell answers for a process that a signal ended: this plus the signal. */
    private static final int EXIT_SIGNAL_BASE = 128;

    private static final Executor THREADS = task -> Thread.ofVirtual().start(task);

    private final SpaceClient client;
    private final String session;

    StreamedProcess(SpaceClient client, String session) {
        this.client = client;
        this.session = session;
    }

    /** Runs to the end and answers the exit code. */
    int run(RunProcess command) {
        String id = "cli-" + UUID.randomUUID();
        RunProcess named =
                new RunProcess(
                        command.argv(),
                        command.env(),
                        command.cwd(),
                        command.user(),
                        command.timeoutMillis(),
                        true,
                        id);
        JsonNode started = client.startProcess(session, named);
        String process = started.path("id").asText(started.path("processId").asText(id));
        CompletableFuture<Void> out = copy(process, "stdout", FileDescriptor.out);
        CompletableFuture<Void> err = copy(process, "stderr", FileDescriptor.err);
        var _ = Thread.ofPlatform().daemon().start(() -> pumpStdin(process));
        joined(out);
        joined(err);
        return exitCode(awaitEnd(process));
    }

    private static void joined(CompletableFuture<Void> future) {
        try {
            var _ = future.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof ApiException api) {
                throw api;
            }
            throw e;
        }
    }

    private CompletableFuture<Void> copy(String process, String stream, FileDescriptor target) {
        return CompletableFuture.runAsync(
                () -> copyAll(process, stream, new FileOutputStream(target)), THREADS);
    }

    private void copyAll(String process, String stream, OutputStream target) {
        long offset = 0;
        int broken = 0;
        while (true) {
            byte[] piece = new byte[PIECE_BYTES];
            try (InputStream in = client.output(session, process, stream, offset)) {
                for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
                    target.write(piece, 0, n);
                    offset += n;
                    broken = 0;
                }
                target.flush();
                return;
            } catch (IOException e) {
                if (++broken > RECONNECTS_MAX) {
                    throw new ApiException(0, "CONNECTION_LOST", "output broke off: " + e);
                }
                Pause.of(RECONNECT_AFTER);
            }
        }
    }

    private void pumpStdin(String process) {
        byte[] piece = new byte[PIECE_BYTES];
        long offset = 0;
        try (InputStream in = new FileInputStream(FileDescriptor.in)) {
            int n = in.read(piece);
            while (n >= 0) {
                client.writeStdin(session, process, offset, Arrays.copyOf(piece, n), false);
                offset += n;
                n = in.read(piece);
            }
            client.writeStdin(session, process, offset, new byte[0], true);
        } catch (IOException | ApiException _) {
            // The process may have ended without reading its input: its exit code tells the rest.
        }
    }

    private JsonNode awaitEnd(String process) {
        JsonNode now = client.process(session, process, WAIT);
        while (now.path("state").asText().equals("RUNNING")) {
            now = client.process(session, process, WAIT);
        }
        return now;
    }

    private static int exitCode(JsonNode process) {
        String reason = process.path("reason").asText("");
        String detail = process.path("detail").asText("");
        if (!reason.equals("EXITED") && !reason.isEmpty()) {
            System.err.println("space: " + reason + (detail.isEmpty() ? "" : ": " + detail));
        }
        int signal = process.path("signal").asInt(0);
        return signal > 0 ? EXIT_SIGNAL_BASE + signal : process.path("exitCode").asInt();
    }
}
