package dev.space.service.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.Limits;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.nodeapi.v1.ExecReply;
import dev.space.nodeapi.v1.ExecRequest;
import dev.space.nodeapi.v1.GetProcessRequest;
import dev.space.nodeapi.v1.ListProcessesRequest;
import dev.space.nodeapi.v1.ProcessInfo;
import dev.space.nodeapi.v1.SignalProcessRequest;
import dev.space.nodeapi.v1.StartProcessRequest;
import dev.space.nodeapi.v1.WriteStdinRequest;
import dev.space.service.auth.Caller;
import dev.space.service.command.IdSource;
import dev.space.service.edge.Edge;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Commands and processes of a running sandbox. */
@Path("/v1/sessions/{id}")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Processes")
@RunOnVirtualThread
public class ProcessesResource {
    /** What a call may take beyond what it waits for on purpose. */
    static final Duration CALL = Duration.ofSeconds(30);

    /** One piece of standard input on its way to the node. */
    private static final int STDIN_PIECE_BYTES = 64 << 10;

    private static final Map<String, Integer> SIGNALS =
            Map.of(
                    "HUP", 1, "INT", 2, "QUIT", 3, "KILL", 9, "USR1", 10, "USR2", 12, "TERM", 15,
                    "CONT", 18, "STOP", 19, "WINCH", 28);

    private final Caller caller;
    private final Edge edge;
    private final JsonBodies bodies;
    private final IdSource ids;
    private final ProcessOutput outputs;

    @Inject
    public ProcessesResource(
            Caller caller, Edge edge, JsonBodies bodies, IdSource ids, ProcessOutput outputs) {
        this.caller = caller;
        this.edge = edge;
        this.bodies = bodies;
        this.ids = ids;
        this.outputs = outputs;
    }

    /** Result of a command that was run and waited for. */
    @Schema(name = "ExecResult")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ExecResult(
            String processId,
            int exitCode,
            String reason,
            @Nullable Integer signal,
            @Nullable String detail,
            String stdout,
            String stderr,
            boolean stdoutTruncated,
            boolean stderrTruncated,
            long durationMillis) {}

    /** Processes of a sandbox. */
    @Schema(name = "ProcessList")
    public record ProcessList(List<ProcessView> processes) {}

    /** How far standard input was taken. */
    @Schema(name = "StdinOffset")
    public record StdinOffset(long offset) {}

    /** A signal by name or number. */
    @Schema(name = "Signal")
    public record SignalBody(@Nullable String signal) {}

    @POST
    @Path("exec")
    @Consumes(MediaType.WILDCARD)
    @Operation(summary = "Run a command, wait for it, and answer its output")
    @RequestBody(content = @Content(schema = @Schema(implementation = ProcessRequests.Exec.class)))
    public ExecResult exec(
            @PathParam("id") String id,
            InputStream body,
            @HeaderParam(Requests.IDEMPOTENCY_KEY) @Nullable String key) {
        SessionId session = Requests.session(id);
        var read = bodies.read(body, ProcessRequests.Exec.class);
        ProcessRequests.Exec request = read.value();
        ProcessRequests.check(
                request.argv(), request.command(), request.env(), request.cwd(), request.user());
        boolean base64 = request.isBase64();
        ByteString stdin = request.stdinBytes();
        Duration deadline = Duration.ofMillis(request.checkedTimeout()).plus(CALL);
        String process = processId(key, session);
        ByteString digest = ByteString.copyFrom(read.hash().bytes());
        ExecReply reply =
                edge.call(
                        caller.project(),
                        caller.actor(),
                        session,
                        leg ->
                                leg.stub(deadline)
                                        .exec(
                                                ExecRequest.newBuilder()
                                                        .setTarget(leg.target())
                                                        .setSpec(request.spec(leg))
                                                        .setStdin(stdin)
                                                        .setOutputBytesMax(
                                                                Limits.EXEC_OUTPUT_BYTES_MAX)
                                                        .setProcessId(process)
                                                        .setRequest(digest)
                                                        .build()));
        return result(reply, base64);
    }

    private static ExecResult result(ExecReply reply, boolean base64) {
        ProcessInfo process = reply.getProcess();
        return new ExecResult(
                process.getProcessId(),
                process.getExitCode(),
                process.getReason(),
                process.getSignal() == 0 ? null : process.getSignal(),
                process.getDetail().isEmpty() ? null : process.getDetail(),
                text(reply.getStdout(), base64),
                text(reply.getStderr(), base64),
                reply.getStdoutTruncated(),
                reply.getStderrTruncated(),
                Math.max(0, process.getEndedAtMillis() - process.getStartedAtMillis()));
    }

    private static String text(ByteString bytes, boolean base64) {
        return base64
                ? Base64.getEncoder().encodeToString(bytes.toByteArray())
                : bytes.toStringUtf8();
    }

    /** The same idempotency key names the same process, so that a retry starts nothing twice. */
    private String processId(@Nullable String key, SessionId session) {
        if (key == null) {
            return ids.text("prc");
        }
        byte[] hash =
                JsonBodies.hash(new byte[0], "process", session.value(), Requests.checkedKey(key))
                        .bytes();
        return "key_" + HexFormat.of().formatHex(hash, 0, 20);
    }

    @POST
    @Path("processes")
    @Consumes(MediaType.WILDCARD)
    @Operation(summary = "Start a process in the background")
    @RequestBody(content = @Content(schema = @Schema(implementation = ProcessRequests.Start.class)))
    @APIResponse(
            responseCode = "201",
            content = @Content(schema = @Schema(implementation = ProcessView.class)))
    public Response start(
            @PathParam("id") String id,
            InputStream body,
            @HeaderParam(Requests.IDEMPOTENCY_KEY) @Nullable String key) {
        SessionId session = Requests.session(id);
        var read = bodies.read(body, ProcessRequests.Start.class);
        ProcessRequests.Start request = read.value();
        ByteString digest = ByteString.copyFrom(read.hash().bytes());
        ProcessRequests.check(
                request.argv(), request.command(), request.env(), request.cwd(), request.user());
        String process =
                request.processId() == null
                        ? processId(key, session)
                        : ProcessRequests.processId(request.processId());
        ProcessInfo info =
                edge.call(
                        caller.project(),
                        caller.actor(),
                        session,
                        leg ->
                                leg.stub(CALL)
                                        .startProcess(
                                                StartProcessRequest.newBuilder()
                                                        .setTarget(leg.target())
                                                        .setSpec(request.spec(leg))
                                                        .setProcessId(process)
                                                        .setRequest(digest)
                                                        .build()));
        return Response.status(201).entity(ProcessView.of(info)).build();
    }

    @GET
    @Path("processes")
    @Operation(summary = "Processes of the sandbox, finished ones included")
    public ProcessList list(@PathParam("id") String id) {
        var list =
                edge.call(
                        caller.project(),
                        caller.actor(),
                        Requests.session(id),
                        leg ->
                                leg.stub(CALL)
                                        .listProcesses(
                                                ListProcessesRequest.newBuilder()
                                                        .setTarget(leg.target())
                                                        .build()));
        return new ProcessList(list.getProcessesList().stream().map(ProcessView::of).toList());
    }

    @GET
    @Path("processes/{process}")
    @Operation(summary = "One process; with wait, when it has ended or the time is over")
    public ProcessView get(
            @PathParam("id") String id,
            @PathParam("process") String process,
            @QueryParam("wait") @Nullable String waitSeconds) {
        Duration wait = waitSeconds == null ? Duration.ZERO : Requests.wait(waitSeconds);
        String processId = ProcessRequests.processId(process);
        return ProcessView.of(
                edge.call(
                        caller.project(),
                        caller.actor(),
                        Requests.session(id),
                        leg ->
                                leg.stub(wait.plus(CALL))
                                        .getProcess(
                                                GetProcessRequest.newBuilder()
                                                        .setTarget(leg.target())
                                                        .setProcessId(processId)
                                                        .setWaitMillis(wait.toMillis())
                                                        .build())));
    }

    @GET
    @Path("processes/{process}/output")
    @Produces(MediaType.APPLICATION_OCTET_STREAM)
    @Operation(
            summary =
                    "Output from an offset; with follow, until the stream ends; with the life that"
                            + " an earlier answer named, 410 when the session went back since")
    public Response output(
            @PathParam("id") String id,
            @PathParam("process") String process,
            @QueryParam("stream") @Nullable String stream,
            @QueryParam("offset") @Nullable String offset,
            @QueryParam("life") @Nullable String life,
            @QueryParam("follow") @Parameter(schema = @Schema(type = SchemaType.BOOLEAN))
                    @Nullable String follow) {
        String name = stream == null ? "stdout" : stream;
        if (!name.equals("stdout") && !name.equals("stderr")) {
            throw CreateSession.invalid("stream is stdout or stderr");
        }
        long from = offset == null ? 0 : Requests.number("offset", offset, 0, Long.MAX_VALUE);
        return outputs.open(
                caller.project(),
                caller.actor(),
                Requests.session(id),
                ProcessRequests.processId(process),
                name,
                from,
                life == null ? "" : ProcessRequests.life(life),
                Requests.flag("follow", follow));
    }

    @POST
    @Path("processes/{process}/stdin")
    @Consumes(MediaType.WILDCARD)
    @Operation(summary = "Write to standard input at an offset; repeating a piece writes it once")
    @RequestBody(content = @Content(mediaType = MediaType.APPLICATION_OCTET_STREAM))
    public StdinOffset stdin(
            @PathParam("id") String id,
            @PathParam("process") String process,
            @QueryParam("offset") @Nullable String offset,
            @QueryParam("eof") @Parameter(schema = @Schema(type = SchemaType.BOOLEAN))
                    @Nullable String eof,
            InputStream body)
            throws IOException {
        boolean ends = Requests.flag("eof", eof);
        long at = offset == null ? 0 : Requests.number("offset", offset, 0, Long.MAX_VALUE);
        SessionId session = Requests.session(id);
        String processId = ProcessRequests.processId(process);
        byte[] piece = body.readNBytes(STDIN_PIECE_BYTES);
        while (true) {
            byte[] next =
                    piece.length < STDIN_PIECE_BYTES
                            ? new byte[0]
                            : body.readNBytes(STDIN_PIECE_BYTES);
            boolean last = next.length == 0;
            long taken = write(session, processId, at, piece, last && ends);
            if (taken < at + piece.length) {
                return new StdinOffset(taken);
            }
            at += piece.length;
            if (last) {
                return new StdinOffset(at);
            }
            piece = next;
        }
    }

    private long write(SessionId session, String process, long at, byte[] piece, boolean eof) {
        return edge.call(
                        caller.project(),
                        caller.actor(),
                        session,
                        leg ->
                                leg.stub(CALL)
                                        .writeStdin(
                                                WriteStdinRequest.newBuilder()
                                                        .setTarget(leg.target())
                                                        .setProcessId(process)
                                                        .setOffset(at)
                                                        .setData(ByteString.copyFrom(piece))
                                                        .setEof(eof)
                                                        .build()))
                .getOffset();
    }

    @POST
    @Path("processes/{process}/signal")
    @Consumes(MediaType.WILDCARD)
    @Operation(summary = "Send a signal to the whole process tree")
    @RequestBody(content = @Content(schema = @Schema(implementation = SignalBody.class)))
    @APIResponse(responseCode = "204")
    public void signal(
            @PathParam("id") String id, @PathParam("process") String process, InputStream body) {
        int number = signal(bodies.read(body, SignalBody.class).value().signal());
        String processId = ProcessRequests.processId(process);
        edge.call(
                caller.project(),
                caller.actor(),
                Requests.session(id),
                leg ->
                        leg.stub(CALL)
                                .signalProcess(
                                        SignalProcessRequest.newBuilder()
                                                .setTarget(leg.target())
                                                .setProcessId(processId)
                                                .setSignal(number)
                                                .build()));
    }

    private static int signal(@Nullable String text) {
        if (text == null) {
            throw CreateSession.invalid("signal is missing; for instance TERM or 15");
        }
        String name = text.toUpperCase(Locale.ROOT);
        Integer number = SIGNALS.get(name.startsWith("SIG") ? name.substring(3) : name);
        if (number != null) {
            return number;
        }
        if (text.matches("[0-9]{1,2}")) {
            return (int) Requests.number("signal", text, 1, 64);
        }
        throw new SpaceException(
                ErrorCode.INVALID_ARGUMENT,
                "signal is one of "
                        + SIGNALS.keySet().stream().sorted().toList()
                        + " or a number from 1 to 64");
    }
}
