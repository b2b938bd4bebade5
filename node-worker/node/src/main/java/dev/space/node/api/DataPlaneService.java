package dev.space.node.api;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.Limits;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.node.dataplane.Audit;
import dev.space.node.dataplane.OutputLog;
import dev.space.node.dataplane.SandboxProcess;
import dev.space.node.engine.spi.FileReader;
import dev.space.node.engine.spi.GuestFile;
import dev.space.node.sandbox.Sandbox;
import dev.space.node.sandbox.SandboxManager;
import dev.space.nodeapi.v1.Done;
import dev.space.nodeapi.v1.ExecReply;
import dev.space.nodeapi.v1.ExecRequest;
import dev.space.nodeapi.v1.FileChunk;
import dev.space.nodeapi.v1.FileInfo;
import dev.space.nodeapi.v1.FileRequest;
import dev.space.nodeapi.v1.GetProcessRequest;
import dev.space.nodeapi.v1.ListProcessesRequest;
import dev.space.nodeapi.v1.MakeDirectoryRequest;
import dev.space.nodeapi.v1.NodeDataPlaneGrpc;
import dev.space.nodeapi.v1.OutputChunk;
import dev.space.nodeapi.v1.PingReply;
import dev.space.nodeapi.v1.PingRequest;
import dev.space.nodeapi.v1.ProcessInfo;
import dev.space.nodeapi.v1.ProcessList;
import dev.space.nodeapi.v1.ReadFileRequest;
import dev.space.nodeapi.v1.ReadOutputRequest;
import dev.space.nodeapi.v1.RemoveFileRequest;
import dev.space.nodeapi.v1.SignalProcessRequest;
import dev.space.nodeapi.v1.StartProcessRequest;
import dev.space.nodeapi.v1.Target;
import dev.space.nodeapi.v1.WriteFileRequest;
import dev.space.nodeapi.v1.WriteStdinReply;
import dev.space.nodeapi.v1.WriteStdinRequest;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Function;

/** Commands and files of running sandboxes over gRPC. */
public final class DataPlaneService extends NodeDataPlaneGrpc.NodeDataPlaneImplBase {

    /** One message of a stream. */
    private static final int CHUNK_BYTES = 64 << 10;

    private static final Duration FOLLOW_WAIT = Duration.ofSeconds(1);
    private static final int SIGNAL_MAX = 64;

    private final SandboxManager manager;
    private final Audit audit;

    public DataPlaneService(SandboxManager manager, Audit audit) {
        this.manager = manager;
        this.audit = audit;
    }

    private Sandbox sandbox(Target target) {
        Sandbox found = manager.running(new SessionId(target.getSessionId()), target.getEpoch());
        if (found.vm().held().isHeld()) {
            throw new SpaceException(
                    ErrorCode.NODE_DISK_FULL,
                    "the sandbox stands still because the node's disk is nearly full; it is being"
                            + " paused, and can be resumed when there is space");
        }
        return found;
    }

    private <T> void act(
            StreamObserver<T> caller,
            Target target,
            String action,
            String object,
            Function<Sandbox, T> body) {
        Calls.unary(caller, () -> audit.action(sandbox(target), target, action, object, body));
    }

    @Override
    public void ping(PingRequest request, StreamObserver<PingReply> caller) {
        Calls.unary(
                caller,
                () -> {
                    long begin = System.nanoTime();
                    long unix = sandbox(request.getTarget()).guest().pingUnixNanos();
                    return PingReply.newBuilder()
                            .setGuestUnixNanos(unix)
                            .setRoundTripNanos(System.nanoTime() - begin)
                            .build();
                });
    }

    @Override
    public void exec(ExecRequest request, StreamObserver<ExecReply> caller) {
        String id = idOr(request.getProcessId());
        act(caller, request.getTarget(), "exec", id, sandbox -> run(sandbox, request, id));
    }

    private static String idOr(String given) {
        return given.isEmpty() ? "p-" + UUID.randomUUID() : given;
    }

    private static ExecReply run(Sandbox sandbox, ExecRequest request, String id) {
        boolean input = !request.getStdin().isEmpty();
        SandboxProcess process =
                sandbox.processes()
                        .start(Wire.start(id, request.getSpec(), input), request.getRequest());
        if (input) {
            sandbox.processes().writeStdin(id, 0, request.getStdin(), true);
        }
        long timeout = request.getSpec().getTimeoutMillis();
        long wait = timeout == 0 ? Limits.EXEC_TIMEOUT_MILLIS_MAX : timeout + GRACE.toMillis();
        try {
            if (!process.await(Duration.ofMillis(wait))) {
                throw new SpaceException(
                        ErrorCode.TIMED_OUT,
                        "the command still runs as process " + id + "; read or signal it there");
            }
            int max =
                    request.getOutputBytesMax() <= 0
                            ? Limits.EXEC_OUTPUT_BYTES_MAX
                            : (int)
                                    Math.min(
                                            request.getOutputBytesMax(),
                                            Limits.EXEC_OUTPUT_BYTES_MAX);
            ByteString stdout = head(process.log(false), max);
            ByteString stderr = head(process.log(true), max);
            return ExecReply.newBuilder()
                    .setProcess(Wire.process(process))
                    .setStdout(stdout)
                    .setStderr(stderr)
                    .setStdoutTruncated(process.log(false).end() > stdout.size())
                    .setStderrTruncated(process.log(true).end() > stderr.size())
                    .build();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SpaceException(ErrorCode.UNAVAILABLE, "the node is stopping", e);
        }
    }

    /** Longer than the guest's own time-out of the process, which ends it there. */
    private static final Duration GRACE = Duration.ofSeconds(10);

    private static ByteString head(OutputLog log, int max) throws InterruptedException {
        if (log.end() == 0) {
            return ByteString.EMPTY;
        }
        ByteString all = ByteString.EMPTY;
        try (OutputLog.Reader reader = log.reader(0)) {
            while (all.size() < max) {
                int want = Math.min(CHUNK_BYTES, max - all.size());
                OutputLog.Piece piece = reader.next(want, Duration.ZERO);
                all = all.concat(piece.data());
                if (piece.end() || piece.data().isEmpty()) {
                    break;
                }
            }
        }
        return all;
    }

    @Override
    public void startProcess(StartProcessRequest request, StreamObserver<ProcessInfo> caller) {
        String id = idOr(request.getProcessId());
        act(
                caller,
                request.getTarget(),
                "start_process",
                id,
                sandbox ->
                        Wire.process(
                                sandbox.processes()
                                        .start(
                                                Wire.start(
                                                        id,
                                                        request.getSpec(),
                                                        request.getSpec().getStdin()),
                                                request.getRequest())));
    }

    @Override
    public void listProcesses(ListProcessesRequest request, StreamObserver<ProcessList> caller) {
        Calls.unary(
                caller,
                () ->
                        ProcessList.newBuilder()
                                .addAllProcesses(
                                        sandbox(request.getTarget()).processes().list().stream()
                                                .map(Wire::process)
                                                .toList())
                                .build());
    }

    @Override
    public void getProcess(GetProcessRequest request, StreamObserver<ProcessInfo> caller) {
        Calls.unary(
                caller,
                () -> {
                    SandboxProcess process =
                            sandbox(request.getTarget())
                                    .processes()
                                    .require(request.getProcessId());
                    long wait =
                            Math.clamp(
                                    request.getWaitMillis(), 0, Limits.OPERATION_WAIT_MILLIS_MAX);
                    try {
                        var _ = process.await(Duration.ofMillis(wait));
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return Wire.process(process);
                });
    }

    @Override
    public void readOutput(ReadOutputRequest request, StreamObserver<OutputChunk> caller) {
        FlowSender<OutputChunk> sender = new FlowSender<>(caller);
        sender.run(() ->
                audit.action(
                        sandbox(request.getTarget()),
                        request.getTarget(),
                        "read_output",
                        request.getProcessId(),
                        sandbox -> {
                            send(sandbox, request, sender);
                            return true;
                        }));
    }

    private static void send(
            Sandbox sandbox, ReadOutputRequest request, FlowSender<OutputChunk> sender) {
        SandboxProcess process =
                sandbox.processes().require(request.getProcessId(), request.getLife());
        boolean stderr = isStderr(request.getStream());
        if (request.getOffset() < 0) {
            throw Wire.invalid("an offset cannot be negative");
        }
        process.demandLife(request.getLife(), stderr, request.getOffset());
        Duration wait = request.getFollow() ? FOLLOW_WAIT : Duration.ZERO;
        try (OutputLog.Reader reader = process.log(stderr).reader(request.getOffset())) {
            while (!sender.isCancelled()) {
                OutputLog.Piece piece = reader.next(CHUNK_BYTES, wait);
                if (piece.data().isEmpty() && !piece.end() && request.getFollow()) {
                    continue;
                }
                sender.send(
                        OutputChunk.newBuilder()
                                .setOffset(piece.offset())
                                .setData(piece.data())
                                .setEnd(piece.end())
                                .setLife(process.life())
                                .build());
                if (piece.end() || piece.data().isEmpty()) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SpaceException(ErrorCode.UNAVAILABLE, "the node is stopping", e);
        }
    }

    private static boolean isStderr(String stream) {
        return switch (stream) {
            case "stdout" -> false;
            case "stderr" -> true;
            default -> throw Wire.invalid("a stream is stdout or stderr");
        };
    }

    @Override
    public void writeStdin(WriteStdinRequest request, StreamObserver<WriteStdinReply> caller) {
        act(
                caller,
                request.getTarget(),
                "write_stdin",
                request.getProcessId(),
                sandbox ->
                        WriteStdinReply.newBuilder()
                                .setOffset(
                                        sandbox.processes()
                                                .writeStdin(
                                                        request.getProcessId(),
                                                        request.getOffset(),
                                                        request.getData(),
                                                        request.getEof()))
                                .build());
    }

    @Override
    public void signalProcess(SignalProcessRequest request, StreamObserver<Done> caller) {
        act(
                caller,
                request.getTarget(),
                "signal",
                request.getProcessId(),
                sandbox -> {
                    if (request.getSignal() < 1 || request.getSignal() > SIGNAL_MAX) {
                        throw Wire.invalid("a signal is a number from 1 to " + SIGNAL_MAX);
                    }
                    sandbox.processes().signal(request.getProcessId(), request.getSignal());
                    return Done.getDefaultInstance();
                });
    }

    private <T> void onFile(
            StreamObserver<T> caller, FileRequest file, String action, Function<Sandbox, T> body) {
        Calls.unary(
                caller,
                () ->
                        audit.action(
                                sandbox(file.getTarget()),
                                file.getTarget(),
                                action,
                                Wire.path(file).printable(),
                                body));
    }

    @Override
    public void statFile(FileRequest request, StreamObserver<FileInfo> caller) {
        onFile(
                caller,
                request,
                "stat_file",
                sandbox -> Wire.file(sandbox.guest().stat(Wire.path(request))));
    }

    @Override
    public void makeDirectory(MakeDirectoryRequest request, StreamObserver<FileInfo> caller) {
        onFile(
                caller,
                request.getFile(),
                "make_directory",
                sandbox ->
                        Wire.file(
                                sandbox.guest()
                                        .makeDirectory(
                                                Wire.path(request.getFile()),
                                                request.getParents(),
                                                request.getMode())));
    }

    @Override
    public void removeFile(RemoveFileRequest request, StreamObserver<Done> caller) {
        onFile(
                caller,
                request.getFile(),
                "remove_file",
                sandbox -> {
                    sandbox.guest().remove(Wire.path(request.getFile()), request.getRecursive());
                    return Done.getDefaultInstance();
                });
    }

    @Override
    public void listDirectory(FileRequest request, StreamObserver<FileInfo> caller) {
        FlowSender<FileInfo> sender = new FlowSender<>(caller);
        stream(
                sender,
                request,
                "list_directory",
                sandbox ->
                        sandbox.guest()
                                .list(Wire.path(request), file -> sender.send(Wire.file(file))));
    }

    @Override
    public void readFile(ReadFileRequest request, StreamObserver<FileChunk> caller) {
        FlowSender<FileChunk> sender = new FlowSender<>(caller);
        if (request.getOffset() < 0) {
            caller.onError(GrpcErrors.of(Wire.invalid("an offset cannot be negative")));
            return;
        }
        FileReader reader =
                new FileReader() {
                    @Override
                    public void info(GuestFile file) {
                        sender.send(FileChunk.newBuilder().setInfo(Wire.file(file)).build());
                    }

                    @Override
                    public void data(ByteString data) {
                        sender.send(FileChunk.newBuilder().setData(data).build());
                    }
                };
        stream(
                sender,
                request.getFile(),
                "read_file",
                sandbox ->
                        sandbox.guest()
                                .read(
                                        Wire.path(request.getFile()),
                                        request.getOffset(),
                                        request.getLength(),
                                        reader));
    }

    private void stream(
            FlowSender<?> sender,
            FileRequest file,
            String action,
            java.util.function.Consumer<Sandbox> body) {
        sender.run(() ->
                audit.action(
                        sandbox(file.getTarget()),
                        file.getTarget(),
                        action,
                        Wire.path(file).printable(),
                        sandbox -> {
                            body.accept(sandbox);
                            return true;
                        }));
    }

    @Override
    public StreamObserver<WriteFileRequest> writeFile(StreamObserver<FileInfo> caller) {
        return new FileUpload(
                caller,
                (header, source) ->
                        audit.action(
                                sandbox(header.getFile().getTarget()),
                                header.getFile().getTarget(),
                                "write_file",
                                Wire.path(header.getFile()).printable(),
                                sandbox ->
                                        Wire.file(
                                                sandbox.guest()
                                                        .write(
                                                                Wire.path(header.getFile()),
                                                                header.getMode(),
                                                                header.getMakeParents(),
                                                                source))));
    }
}
