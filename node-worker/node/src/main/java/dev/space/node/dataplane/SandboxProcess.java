package dev.space.node.dataplane;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.GuestProcess;
import dev.space.node.engine.spi.OutputSink;
import dev.space.node.volumes.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;

/** One process in a sandbox as the node follows it. */
public final class SandboxProcess implements OutputSink, AutoCloseable {

    private static final String LOST = "LOST";

    /** Longer than a guest may take to answer a start. */
    private static final Duration START_MAX = Duration.ofSeconds(30);

    private final Path directory;
    private final Events events;
    private final OutputLog stdout;
    private final OutputLog stderr;
    private final CompletableFuture<Boolean> over = new CompletableFuture<>();
    private final CompletableFuture<Boolean> begun = new CompletableFuture<>();
    private final ReentrantLock recording = new ReentrantLock();
    private volatile ProcessMeta meta;
    private boolean forgotten;
    private boolean unwritten;

    /** What its table must know. */
    interface Events {
        /** Its state is newer than its record. */
        void changed(SandboxProcess process);

        /** As {@link #changed}, once in its life: it is over. */
        void ended(SandboxProcess process);

        void detached(SandboxProcess process);
    }

    private SandboxProcess(
            Path directory, ProcessMeta meta, Events events, OutputLog stdout, OutputLog stderr) {
        this.directory = directory;
        this.meta = meta;
        this.events = events;
        this.stdout = stdout;
        this.stderr = stderr;
    }

    /** One that is about to be started: nothing is looked for on disk. */
    static SandboxProcess fresh(Path directory, ProcessMeta meta, Events events) {
        return new SandboxProcess(
                directory,
                meta,
                events,
                new OutputLog(directory, "stdout"),
                new OutputLog(directory, "stderr"));
    }

    /** One that was followed before, with the output kept of it. */
    static SandboxProcess known(Path directory, ProcessMeta meta, Events events) {
        SandboxProcess process =
                new SandboxProcess(
                        directory,
                        meta,
                        events,
                        OutputLog.reopen(directory, "stdout"),
                        OutputLog.reopen(directory, "stderr"));
        var _ = process.begun.complete(true);
        if (!meta.state().running()) {
            process.finish();
        }
        return process;
    }

    public String id() {
        return meta.state().id();
    }

    /** The state, with the offsets that were delivered up to now. */
    public GuestProcess state() {
        GuestProcess s = meta.state();
        return new GuestProcess(
                s.id(),
                s.pid(),
                s.running(),
                s.exitCode(),
                s.signal(),
                s.reason(),
                s.detail(),
                s.startedUnixMillis(),
                s.endedUnixMillis(),
                stdout.end(),
                stderr.end());
    }

    public List<ByteString> argv() {
        return meta.argvBytes();
    }

    public ByteString command() {
        return meta.commandBytes();
    }

    public OutputLog log(boolean ofStderr) {
        return ofStderr ? stderr : stdout;
    }

    boolean isOver() {
        return over.isDone();
    }

    /** Waits for the end and all output; false when the time is over first. */
    public boolean await(Duration wait) throws InterruptedException {
        return await(over, wait);
    }

    private static boolean await(CompletableFuture<Boolean> future, Duration wait)
            throws InterruptedException {
        try {
            return future.get(wait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException known
                    ? known
                    : new IllegalStateException(e);
        }
    }

    /** Refuses whoever means another process by the same id. */
    void demand(ByteString request) {
        if (!meta.isOf(request)) {
            throw new SpaceException(
                    ErrorCode.IDEMPOTENCY_KEY_REUSED,
                    "process "
                            + id()
                            + " was started by another request; a new command needs a new key");
        }
    }

    /** The sandbox was started anew: what is written from here on is another life's. */
    void begin(String life) {
        recording.lock();
        try {
            Lives before = meta.lives();
            meta =
                    meta.with(
                            before == null
                                    ? Lives.first(life)
                                    : before.next(life, stdout.end(), stderr.end()));
            // Before the first byte of that life, or a crash would make it the old one's.
            record();
        } finally {
            recording.unlock();
        }
    }

    /** What a reader names when it reads on; empty where nobody knows. */
    public String life() {
        Lives lives = meta.lives();
        return lives == null ? "" : lives.now();
    }

    /** Refuses a reader whose past is not the present's, so that it never has a silent gap. */
    public void demandLife(String life, boolean ofStderr, long offset) {
        Lives lives = meta.lives();
        if (!life.isEmpty() && (lives == null || !lives.agree(life, ofStderr, offset))) {
            throw new SpaceException(
                    ErrorCode.PROCESS_LOST,
                    "the session went back to a moment before byte "
                            + offset
                            + " of this output; read again from offset 0, without a life");
        }
    }

    /** For who asks while somebody else starts it. */
    void awaitStart() {
        try {
            if (!await(begun, START_MAX)) {
                throw new SpaceException(
                        ErrorCode.GUEST_UNREACHABLE,
                        "the sandbox does not say whether process " + id() + " was started");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SpaceException(ErrorCode.UNAVAILABLE, "the node is stopping", e);
        }
    }

    /** It never began: whoever waits for it learns why. */
    void failed(RuntimeException why) {
        var _ = begun.completeExceptionally(why);
        var _ = over.completeExceptionally(why);
    }

    /** Its sandbox ended, or is let go of, before it did: nobody learns its end here. */
    void abandoned() {
        SpaceException why =
                new SpaceException(
                        ErrorCode.PROCESS_LOST,
                        "the sandbox ended while process "
                                + id()
                                + " ran; where the session goes on from that moment so does the"
                                + " process, under the same id");
        var _ = begun.completeExceptionally(why);
        var _ = over.completeExceptionally(why);
    }

    void started(GuestProcess state) {
        recording.lock();
        try {
            // Its end may have come through the output's delivery first.
            if (meta.state().running() && (state.running() || meta.state().pid() == 0)) {
                meta = meta.with(state.running() ? state : unfinished(state));
                unwritten = true;
            }
        } finally {
            recording.unlock();
        }
        var _ = begun.complete(true);
        events.changed(this);
    }

    /**
     * Writes what is not on disk yet.
     *
     * @return true when the end of the process is on disk now, and the guest need not keep it
     */
    boolean flush() {
        recording.lock();
        try {
            if (!unwritten || forgotten) {
                return false;
            }
            record();
            return !meta.state().running() && !meta.state().reason().equals(LOST);
        } finally {
            recording.unlock();
        }
    }

    /** An ended process counts as running until all its output is here. */
    private static GuestProcess unfinished(GuestProcess s) {
        return new GuestProcess(
                s.id(), s.pid(), true, 0, 0, "", "", s.startedUnixMillis(), 0, 0, 0);
    }

    @Override
    public void output(boolean ofStderr, long offset, ByteString data) {
        try {
            log(ofStderr).append(offset, data);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Callers get the end before it is on disk: until it is, the guest keeps it and would tell it
     * again.
     */
    @Override
    public void exited(GuestProcess last) {
        recording.lock();
        try {
            meta = meta.with(last);
            unwritten = true;
        } finally {
            recording.unlock();
        }
        var _ = begun.complete(true);
        finish();
        events.ended(this);
    }

    /** The guest no longer knows it: its VM was booted without the memory it lived in. */
    void lost() {
        GuestProcess s = meta.state();
        exited(
                new GuestProcess(
                        s.id(),
                        s.pid(),
                        false,
                        -1,
                        0,
                        LOST,
                        "the sandbox was started again without its memory",
                        s.startedUnixMillis(),
                        s.endedUnixMillis(),
                        stdout.end(),
                        stderr.end()));
    }

    @Override
    public void detached(Throwable why) {
        events.detached(this);
    }

    private void record() {
        try {
            Files.createDirectories(directory);
            Path staged = directory.resolve(ProcessMeta.FILE + ".next");
            Files.write(staged, Json.MAPPER.writeValueAsBytes(meta));
            Files.move(
                    staged,
                    directory.resolve(ProcessMeta.FILE),
                    java.nio.file.StandardCopyOption.ATOMIC_MOVE);
            unwritten = false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void finish() {
        stdout.finish();
        stderr.finish();
        over.complete(true);
    }

    /** Its directory may be removed now: nothing writes there afterwards. */
    @Override
    public void close() {
        recording.lock();
        try {
            forgotten = true;
        } finally {
            recording.unlock();
        }
        stdout.close();
        stderr.close();
    }
}
