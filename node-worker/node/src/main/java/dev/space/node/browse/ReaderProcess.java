package dev.space.node.browse;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Runs the reader, a few at a time. It parses what a guest wrote, so that what it says is taken in
 * bounded pieces and it is killed as soon as its answer is not wanted any more.
 */
final class ReaderProcess {

    /** Each may use a CPU and up to a GiB; more would disturb the sandboxes. */
    private static final int AT_ONCE_MAX = 2;

    private static final int WAITING_MAX = 32;
    private static final long TURN_SECONDS_MAX = 30;
    private static final long END_SECONDS_MAX = 10;
    private static final int COMPLAINT_BYTES_MAX = 4096;
    private static final int BUFFER_BYTES = 64 << 10;

    private final Path program;
    private final Semaphore turns = new Semaphore(AT_ONCE_MAX, true);

    ReaderProcess(Path program) {
        this.program = program;
    }

    /** Takes the answer; what it throws ends the reader. */
    interface Answer {
        void read(InputStream output) throws IOException;
    }

    void run(List<String> words, Answer answer) {
        awaitTurn();
        try {
            runNow(words, answer);
        } catch (IOException e) {
            throw new SpaceException(
                    ErrorCode.INTERNAL, "the disk reader " + program + " does not run", e);
        } finally {
            turns.release();
        }
    }

    private void awaitTurn() {
        try {
            if (turns.getQueueLength() < WAITING_MAX
                    && turns.tryAcquire(TURN_SECONDS_MAX, TimeUnit.SECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new SpaceException(
                ErrorCode.UNAVAILABLE, "other disks are being read on the node; try again");
    }

    private void runNow(List<String> words, Answer answer) throws IOException {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(words);
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().clear();
        Process process = builder.start();
        boolean over = false;
        try {
            process.getOutputStream().close();
            CompletableFuture<String> complaint =
                    CompletableFuture.supplyAsync(
                            () -> complaint(process), Thread.ofVirtual()::start);
            try (InputStream output =
                    new BufferedInputStream(process.getInputStream(), BUFFER_BYTES)) {
                answer.read(output);
            }
            over = process.waitFor(END_SECONDS_MAX, TimeUnit.SECONDS);
            if (!over || process.exitValue() != 0) {
                throw failure(over ? process.exitValue() : -1, complaint.join());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SpaceException(ErrorCode.UNAVAILABLE, "the node is stopping", e);
        } finally {
            if (!over) {
                process.destroyForcibly();
            }
        }
    }

    private static String complaint(Process process) {
        try (InputStream errors = process.getErrorStream()) {
            byte[] first = errors.readNBytes(COMPLAINT_BYTES_MAX);
            var _ = errors.skip(Long.MAX_VALUE);
            return new String(first, StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return "";
        }
    }

    /** The exit codes are the reader's contract, in its failure.rs. */
    private static SpaceException failure(int code, String complaint) {
        return switch (code) {
            case 3 -> new SpaceException(ErrorCode.FILE_NOT_FOUND, complaint);
            case 4, 5, 6 -> new SpaceException(ErrorCode.FILE_CONFLICT, complaint);
            case 7, 8 -> new SpaceException(ErrorCode.DISK_UNREADABLE, complaint);
            case 1, 2 -> new SpaceException(ErrorCode.INTERNAL, "disk reader: " + complaint);
            default ->
                    new SpaceException(
                            ErrorCode.DISK_UNREADABLE,
                            "reading the disk was ended, by its limits of memory and time or by"
                                    + " what it met (exit code "
                                    + code
                                    + ")");
        };
    }
}
