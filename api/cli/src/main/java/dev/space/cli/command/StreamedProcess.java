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
import org.jspecify.annotations.Nullable;

/**
 * One process in a session with this process's own stdin, stdout and stderr as its streams, raw and
 * apart. Output is asked for by offset, so a broken connection loses and doubles nothing.
 */
final class StreamedProcess {

    private static final int PIECE_BYTES = 256 << 10;
    private static final int RECONNECTS_MAX = 5;
    private static final Duration RECONNECT_AFTER = Duration.ofMillis(200);
    private static final Duration WAIT = Duration.ofSeconds(30);

    /** Between two offers of input to a process that does not read: doubled up to the longest. */
    private static final Duration UNREAD_MIN = Duration.ofMillis(20);

    private static final Duration UNREAD_MAX = Duration.ofSeconds(1);

    /** How long an interrupted process may take to end before it is killed. */
    private static final Duration INTERRUPTED_MAX = Duration.ofSeconds(3);

    /** What timeout(1) answers, so that scripts can tell it from the command's own codes. */
    private static final int EXIT_TIMED_OUT = 124;

    /** What a shell answers for a command whose reader went away. */
    private static final int EXIT_SIGPIPE = 141;

    /** What a shell answers for a process that a signal ended: this plus the signal. */
    private static final int EXIT_SIGNAL_BASE = 128;

    private static final Executor THREADS = task -> Thread.ofVirtual().start(task);

    private final SpaceClient client;
    private final String session;
    private final InputStream stdin;
    private final OutputStream stdout;
    private final OutputStream stderr;
    private volatile @Nullable String process;

    /** Whoever reads our output is gone: nothing of the process is of use any more. */
    private static final class ReaderGone extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    StreamedProcess(SpaceClient client, String session) {
        this(
                client,
                session,
                new FileInputStream(FileDescriptor.in),
                new FileOutputStream(FileDescriptor.out),
                new FileOutputStream(FileDescriptor.err));
    }

    StreamedProcess(
            SpaceClient client,
            String session,
            InputStream stdin,
            OutputStream stdout,
            OutputStream stderr) {
        this.client = client;
        this.session = session;
        this.stdin = stdin;
        this.stdout = stdout;
        this.stderr = stderr;
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
        String name = started.path("id").asText(started.path("processId").asText(id));
        process = name;
        CompletableFuture<Void> out = copy(name, "stdout", stdout);
        CompletableFuture<Void> err = copy(name, "stderr", stderr);
        var _ = Thread.ofPlatform().daemon().start(() -> pumpStdin(name));
        try {
            joined(out);
            joined(err);
        } catch (ReaderGone _) {
            end();
            return EXIT_SIGPIPE;
        }
        return exitCode(awaitEnd(name));
    }

    /**
     * Ends the process, if it was started, because whoever asked for it does not want it any more.
     */
    void end() {
        String name = process;
        if (name == null) {
            return;
        }
        try {
            client.signal(session, name, "INT");
            if (client.process(session, name, INTERRUPTED_MAX)
                    .path("state")
                    .asText()
                    .equals("RUNNING")) {
                client.signal(session, name, "KILL");
            }
        } catch (ApiException _) {
            // It ended by itself, or its session is gone.
        }
    }

    private static void joined(CompletableFuture<Void> future) {
        try {
            var _ = future.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException known) {
                throw known;
            }
            throw e;
        }
    }

    private CompletableFuture<Void> copy(String name, String stream, OutputStream target) {
        return CompletableFuture.runAsync(() -> copyAll(name, stream, target), THREADS);
    }

    private void copyAll(String name, String stream, OutputStream target) {
        long offset = 0;
        String life = "";
        int broken = 0;
        while (true) {
            byte[] piece = new byte[PIECE_BYTES];
            try (SpaceClient.Output output =
                    client.output(session, name, stream, offset, life, true)) {
                offset = output.offset();
                life = output.life();
                InputStream in = output.bytes();
                for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
                    write(target, piece, n);
                    offset += n;
                    broken = 0;
                }
                return;
            } catch (IOException e) {
                if (++broken > RECONNECTS_MAX) {
                    throw new ApiException(0, "CONNECTION_LOST", "output broke off: " + e);
                }
                Pause.of(RECONNECT_AFTER);
            }
        }
    }

    private static void write(OutputStream target, byte[] piece, int length) {
        try {
            target.write(piece, 0, length);
            target.flush();
        } catch (IOException e) {
            throw new ReaderGone();
        }
    }

    private void pumpStdin(String name) {
        byte[] piece = new byte[PIECE_BYTES];
        long offset = 0;
        try (stdin) {
            int n = stdin.read(piece);
            while (n >= 0) {
                offset = offer(name, offset, Arrays.copyOf(piece, n), false);
                n = stdin.read(piece);
            }
            var _ = offer(name, offset, new byte[0], true);
        } catch (IOException | ApiException _) {
            // The process may have ended without reading its input: its exit code tells the rest.
        }
    }

    /** Writes a whole piece, however slowly the process reads; answers the offset behind it. */
    private long offer(String name, long offset, byte[] piece, boolean eof) {
        long end = offset + piece.length;
        Duration pause = UNREAD_MIN;
        byte[] rest = piece;
        long taken = client.writeStdin(session, name, offset, rest, eof);
        while (taken < end) {
            if (taken > end - rest.length) {
                pause = UNREAD_MIN;
            }
            Pause.of(pause);
            pause =
                    pause.multipliedBy(2).compareTo(UNREAD_MAX) < 0
                            ? pause.multipliedBy(2)
                            : UNREAD_MAX;
            rest = Arrays.copyOfRange(piece, (int) (taken - offset), piece.length);
            taken = client.writeStdin(session, name, taken, rest, eof);
        }
        return end;
    }

    private JsonNode awaitEnd(String process) {
        JsonNode now = client.process(session, process, WAIT);
        while (now.path("state").asText().equals("RUNNING")) {
            now = client.process(session, process, WAIT);
        }
        return now;
    }

    /** As a shell would answer it; tells on stderr what is no ordinary end. */
    static int exitCode(JsonNode ended) {
        String reason = ended.path("reason").asText("");
        String detail = ended.path("detail").asText("");
        int signal = ended.path("signal").asInt(0);
        if (!reason.equals("EXITED") && !reason.isEmpty()) {
            String why = detail.isEmpty() && signal > 0 ? "by signal " + signal : detail;
            System.err.println("space: " + reason + (why.isEmpty() ? "" : ": " + why));
        }
        if (reason.equals("TIMED_OUT")) {
            return EXIT_TIMED_OUT;
        }
        return signal > 0 ? EXIT_SIGNAL_BASE + signal : ended.path("exitCode").asInt();
    }
}
