package dev.space.node.engine.qemu;

import com.google.protobuf.ByteString;
import dev.space.guest.channel.GuestClient;
import dev.space.guest.channel.GuestFiles;
import dev.space.guest.channel.GuestStream;
import dev.space.guest.channel.ProcessOutput;
import dev.space.guest.protocol.FileInfo;
import dev.space.guest.protocol.FileKind;
import dev.space.guest.protocol.FilePath;
import dev.space.guest.protocol.OutputStream;
import dev.space.guest.protocol.ProcessInfo;
import dev.space.guest.protocol.ProcessState;
import dev.space.guest.protocol.Reply;
import dev.space.guest.protocol.Request;
import dev.space.guest.protocol.StartProcess;
import dev.space.guest.protocol.Status;
import dev.space.node.engine.spi.DataSource;
import dev.space.node.engine.spi.FileReader;
import dev.space.node.engine.spi.Guest;
import dev.space.node.engine.spi.GuestActivity;
import dev.space.node.engine.spi.GuestFile;
import dev.space.node.engine.spi.GuestPath;
import dev.space.node.engine.spi.GuestProcess;
import dev.space.node.engine.spi.OutputSink;
import dev.space.node.engine.spi.ProcessStart;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A guest behind its private channel. Streams of one process run in threads of their own. */
final class QemuGuest implements Guest {

    private static final Duration STDIN_TIMEOUT = Duration.ofMinutes(1);

    /** A quiet process is no failure; the link's own end is noticed at once. */
    private static final Duration OUTPUT_WAIT = Duration.ofDays(30);

    private static final Duration EXIT_WAIT = Duration.ofHours(1);

    private final GuestLink link;
    private final Forgetter forgetter;

    QemuGuest(GuestLink link) {
        this.link = link;
        this.forgetter = new Forgetter(link);
    }

    private GuestClient client() {
        return new GuestClient(link.channel(), GuestLink.CALL_TIMEOUT);
    }

    private GuestFiles files() {
        return new GuestFiles(link.channel(), GuestLink.CALL_TIMEOUT);
    }

    @Override
    public long pingUnixNanos() {
        return client().ping().getUnixNanos();
    }

    @Override
    public GuestProcess start(ProcessStart start, OutputSink sink) {
        StartProcess.Builder request =
                StartProcess.newBuilder()
                        .setId(start.id())
                        .addAllArgv(start.argv())
                        .setCommand(start.command())
                        .setCwd(start.cwd())
                        .setUser(start.user())
                        .setTimeoutMillis(start.timeoutMillis())
                        .setStdin(start.stdin());
        start.env().forEach((k, v) -> request.putEnv(k, ByteString.copyFromUtf8(v)));
        return follow(GuestClient.startRequest(request.build()), start.id(), 0, 0, sink);
    }

    @Override
    public GuestProcess attach(String id, long stdoutFrom, long stderrFrom, OutputSink sink) {
        Request first = GuestClient.getRequest(id, Duration.ZERO, false);
        return follow(first, id, stdoutFrom, stderrFrom, sink);
    }

    /** Everything that is needed goes out at once: the answer costs one round trip. */
    private GuestProcess follow(
            Request first, String id, long stdoutFrom, long stderrFrom, OutputSink sink) {
        List<Request> requests = new ArrayList<>();
        requests.add(first);
        requests.add(output(id, OutputStream.OUTPUT_STREAM_STDOUT, stdoutFrom));
        requests.add(output(id, OutputStream.OUTPUT_STREAM_STDERR, stderrFrom));
        requests.add(GuestClient.getRequest(id, EXIT_WAIT, false));
        requests.addAll(forgetter.take());
        List<GuestStream> open = link.channel().open(requests);
        try {
            ProcessInfo info = process(open.get(0), GuestLink.CALL_TIMEOUT);
            GuestStream stdout = open.get(1);
            GuestStream stderr = open.get(2);
            GuestStream exit = open.get(3);
            Thread.ofVirtual()
                    .name("follow-" + id)
                    .start(() -> {
                        deliver(id, stdout, stderr, exit, sink);
                        open.subList(4, open.size()).forEach(GuestStream::close);
                    });
            return state(info);
        } catch (RuntimeException e) {
            open.forEach(GuestStream::close);
            throw e;
        }
    }

    private static Request output(String id, OutputStream stream, long from) {
        return GuestClient.attachRequest(id, stream, from, true);
    }

    private static ProcessInfo process(GuestStream stream, Duration wait) {
        try (stream) {
            Reply reply = stream.reply(wait);
            return reply.getProcess();
        }
    }

    private void deliver(
            String id, GuestStream stdout, GuestStream stderr, GuestStream exit, OutputSink sink) {
        try (stdout;
                stderr;
                exit) {
            Thread other =
                    Thread.ofVirtual().name("stderr-" + id).start(() -> pump(stderr, true, sink));
            boolean whole = pump(stdout, false, sink);
            other.join();
            ProcessInfo last = exit.reply(EXIT_WAIT.plus(GuestLink.CALL_TIMEOUT)).getProcess();
            while (whole && last.getState() != ProcessState.PROCESS_STATE_EXITED) {
                last = client().get(id, EXIT_WAIT, false);
            }
            if (!whole) {
                sink.detached(new IllegalStateException("the output's stream broke"));
                return;
            }
            sink.exited(state(last));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            sink.detached(e);
        }
    }

    /** True when the stream came to its end. */
    private static boolean pump(GuestStream stream, boolean stderr, OutputSink sink) {
        try (ProcessOutput output = ProcessOutput.of(stream, GuestLink.CALL_TIMEOUT)) {
            while (true) {
                long at = output.offset();
                byte[] data = output.read(OUTPUT_WAIT);
                if (data == null) {
                    return true;
                }
                sink.output(stderr, at, ByteString.copyFrom(data));
            }
        } catch (RuntimeException e) {
            return false;
        }
    }

    private static GuestProcess state(ProcessInfo info) {
        return new GuestProcess(
                info.getId(),
                info.getPid(),
                info.getState() != ProcessState.PROCESS_STATE_EXITED,
                info.getExitCode(),
                info.getSignal(),
                reason(info),
                info.getDetail(),
                TimeUnit.NANOSECONDS.toMillis(info.getStartedUnixNanos()),
                TimeUnit.NANOSECONDS.toMillis(info.getEndedUnixNanos()),
                info.getStdoutBytes(),
                info.getStderrBytes());
    }

    private static String reason(ProcessInfo info) {
        return switch (info.getReason()) {
            case EXIT_REASON_EXITED -> "EXITED";
            case EXIT_REASON_SIGNALED -> "SIGNALED";
            case EXIT_REASON_OUT_OF_MEMORY -> "OUT_OF_MEMORY";
            case EXIT_REASON_TIMED_OUT -> "TIMED_OUT";
            case EXIT_REASON_NOT_FOUND -> "NOT_FOUND";
            case EXIT_REASON_START_FAILED -> "START_FAILED";
            case EXIT_REASON_UNSPECIFIED, UNRECOGNIZED -> "";
        };
    }

    @Override
    public List<GuestProcess> processes() {
        return client().list().stream().map(QemuGuest::state).toList();
    }

    @Override
    public long writeStdin(String id, long offset, ByteString data, boolean eof) {
        return client().writeStdin(id, offset, data, eof, STDIN_TIMEOUT).getOffset();
    }

    @Override
    public void signal(String id, int signal) {
        var _ = client().signal(id, signal, false);
    }

    @Override
    public void forget(String id) {
        forgetter.add(id);
    }

    private static FilePath path(GuestPath path) {
        return FilePath.newBuilder().setPath(path.bytes()).setUser(path.user()).build();
    }

    private static GuestFile file(FileInfo info) {
        return new GuestFile(
                info.getPath(),
                info.getName(),
                kind(info.getKind()),
                info.getSize(),
                info.getMode(),
                info.getOwner(),
                info.getGroup(),
                info.getModifiedUnixNanos(),
                info.getSymlinkTarget());
    }

    private static String kind(FileKind kind) {
        return switch (kind) {
            case FILE_KIND_FILE -> "file";
            case FILE_KIND_DIRECTORY -> "directory";
            case FILE_KIND_SYMLINK -> "symlink";
            case FILE_KIND_OTHER, FILE_KIND_UNSPECIFIED, UNRECOGNIZED -> "other";
        };
    }

    @Override
    public GuestFile stat(GuestPath path) {
        return file(files().stat(path(path)));
    }

    @Override
    public void list(GuestPath path, Consumer<GuestFile> each) {
        files().list(path(path), some -> some.forEach(info -> each.accept(file(info))));
    }

    @Override
    public void read(GuestPath path, long offset, long length, FileReader reader) {
        try (GuestFiles.Reader open = files().read(path(path), offset, length)) {
            reader.info(file(open.info()));
            for (byte[] data = open.read(); data != null; data = open.read()) {
                reader.data(ByteString.copyFrom(data));
            }
        }
    }

    @Override
    public GuestFile write(GuestPath path, int mode, boolean parents, DataSource source) {
        try (GuestFiles.Writer open = files().write(path(path), mode, parents)) {
            for (ByteString data = source.next(); data != null; data = source.next()) {
                for (ByteBuffer part : data.asReadOnlyByteBufferList()) {
                    open.write(part);
                }
            }
            return file(open.commit());
        }
    }

    @Override
    public GuestFile makeDirectory(GuestPath path, boolean parents, int mode) {
        return file(files().makeDirectory(path(path), parents, mode));
    }

    @Override
    public void remove(GuestPath path, boolean recursive) {
        files().remove(path(path), recursive);
    }

    @Override
    public GuestActivity activity() {
        Status status = client().status();
        return new GuestActivity(
                TimeUnit.NANOSECONDS.toMillis(status.getLastInputUnixNanos()),
                status.getCpuMicros());
    }
}
