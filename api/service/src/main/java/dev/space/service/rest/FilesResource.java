package dev.space.service.rest;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.Limits;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.nodeapi.v1.FileInfo;
import dev.space.nodeapi.v1.FileRequest;
import dev.space.nodeapi.v1.MakeDirectoryRequest;
import dev.space.nodeapi.v1.RemoveFileRequest;
import dev.space.nodeapi.v1.WriteFileRequest;
import dev.space.service.auth.Caller;
import dev.space.service.edge.Edge;
import dev.space.service.edge.Leg;
import io.grpc.stub.BlockingClientCall;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.StreamingOutput;
import jakarta.ws.rs.core.UriInfo;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.ParameterIn;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Files of a running sandbox, as the session's user sees them. */
@Path("/v1/sessions/{id}")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Files")
@RunOnVirtualThread
public class FilesResource {
    /** Entries of one listing; a directory with more is listed in part and says so. */
    static final int ENTRIES_MAX = 10_000;

    private final Caller caller;
    private final Edge edge;
    private final JsonBodies bodies;

    @Inject
    public FilesResource(Caller caller, Edge edge, JsonBodies bodies) {
        this.caller = caller;
        this.edge = edge;
        this.bodies = bodies;
    }

    /** What a directory holds. */
    @Schema(name = "Directory")
    public record Directory(List<FileView> files, boolean truncated) {}

    /** A directory to make. */
    @Schema(name = "MakeDirectory", requiredProperties = "path")
    public record MakeDirectory(
            @Nullable String path, @Nullable Boolean parents, @Nullable String mode) {}

    private <T> T call(String id, Edge.Call<T> call) {
        return edge.call(caller.project(), caller.actor(), Requests.session(id), call);
    }

    private static FileRequest file(Leg leg, ByteString path) {
        return FileRequest.newBuilder().setTarget(leg.target()).setPath(path).build();
    }

    @GET
    @Path("files")
    @Produces(MediaType.APPLICATION_OCTET_STREAM)
    @Operation(summary = "Read a file, or one range of it")
    @Parameter(
            name = "path",
            in = ParameterIn.QUERY,
            required = true,
            description = "percent-encoded bytes")
    public Response read(
            @PathParam("id") String id,
            @Context UriInfo uri,
            @HeaderParam("Range") @Nullable String rangeHeader,
            @HeaderParam("If-Range") @Nullable String ifRange) {
        ByteString path = GuestPaths.of(uri);
        ByteRange range = ByteRange.parse(rangeHeader, ifRange);
        if (range != null) {
            return readRange(id, path, range);
        }
        FileStreams.Reading reading =
                call(id, leg -> FileStreams.open(leg, file(leg, path), 0, -1));
        // Without a length: a file may grow or shrink while it is read, and /proc has none.
        return Response.ok((StreamingOutput) reading::copyTo)
                .type(MediaType.APPLICATION_OCTET_STREAM_TYPE)
                .header("Accept-Ranges", "bytes")
                .header("Space-File-Size", reading.info().getSize())
                .build();
    }

    private Response readRange(String id, ByteString path, ByteRange range) {
        FileInfo info = call(id, leg -> leg.stub(ProcessesResource.CALL).statFile(file(leg, path)));
        long begin = range.begin(info.getSize());
        long end = range.end(info.getSize());
        FileStreams.Reading reading =
                call(id, leg -> FileStreams.open(leg, file(leg, path), begin, end - begin));
        return Response.status(206)
                .entity((StreamingOutput) reading::copyTo)
                .type(MediaType.APPLICATION_OCTET_STREAM_TYPE)
                .header("Accept-Ranges", "bytes")
                .header("Content-Range", "bytes " + begin + "-" + (end - 1) + "/" + info.getSize())
                .build();
    }

    @PUT
    @Path("files")
    @Consumes(MediaType.WILDCARD)
    @Operation(summary = "Write a file; its name changes only when all has arrived")
    @Parameter(
            name = "path",
            in = ParameterIn.QUERY,
            required = true,
            description = "percent-encoded bytes")
    @RequestBody(content = @Content(mediaType = MediaType.APPLICATION_OCTET_STREAM))
    public FileView write(
            @PathParam("id") String id,
            @Context UriInfo uri,
            @HeaderParam(HttpHeaders.CONTENT_LENGTH) @Nullable String length,
            @QueryParam("mode") @Nullable String mode,
            @QueryParam("parents") @Parameter(schema = @Schema(type = SchemaType.BOOLEAN))
                    @Nullable String parents,
            InputStream body) {
        boolean makeParents = Requests.flag("parents", parents);
        ByteString path = GuestPaths.of(uri);
        if (length != null) {
            Requests.number("Content-Length", length, 0, Limits.FILE_BYTES_MAX);
        }
        int bits = mode(mode);
        // The body can be read once, so the way is made sure of before it is touched.
        SessionId session = Requests.session(id);
        edge.refresh(caller.project(), caller.actor(), session);
        AtomicBoolean touched = new AtomicBoolean();
        FileInfo written =
                call(
                        id,
                        leg -> {
                            if (!touched.compareAndSet(false, true)) {
                                throw new SpaceException(
                                        ErrorCode.STALE_FENCE,
                                        "the sandbox changed while the file was sent; send it"
                                                + " again");
                            }
                            return FileStreams.write(
                                    leg,
                                    WriteFileRequest.Header.newBuilder()
                                            .setFile(file(leg, path))
                                            .setMode(bits)
                                            .setMakeParents(makeParents)
                                            .build(),
                                    body);
                        });
        return FileView.of(written);
    }

    private static int mode(@Nullable String octal) {
        if (octal == null) {
            return 0;
        }
        if (!octal.matches("[0-7]{3,4}")) {
            throw CreateSession.invalid("mode is octal, for instance 0644");
        }
        return Integer.parseInt(octal, 8);
    }

    @DELETE
    @Path("files")
    @Operation(summary = "Remove a file or directory")
    @Parameter(
            name = "path",
            in = ParameterIn.QUERY,
            required = true,
            description = "percent-encoded bytes")
    @APIResponse(responseCode = "204")
    public void remove(
            @PathParam("id") String id,
            @Context UriInfo uri,
            @QueryParam("recursive") @Parameter(schema = @Schema(type = SchemaType.BOOLEAN))
                    @Nullable String recursive) {
        boolean whole = Requests.flag("recursive", recursive);
        ByteString path = GuestPaths.of(uri);
        call(
                id,
                leg ->
                        leg.stub(ProcessesResource.CALL)
                                .removeFile(
                                        RemoveFileRequest.newBuilder()
                                                .setFile(file(leg, path))
                                                .setRecursive(whole)
                                                .build()));
    }

    @GET
    @Path("files/stat")
    @Operation(summary = "What a file is")
    @Parameter(
            name = "path",
            in = ParameterIn.QUERY,
            required = true,
            description = "percent-encoded bytes")
    public FileView stat(@PathParam("id") String id, @Context UriInfo uri) {
        ByteString path = GuestPaths.of(uri);
        return FileView.of(
                call(id, leg -> leg.stub(ProcessesResource.CALL).statFile(file(leg, path))));
    }

    @GET
    @Path("files/list")
    @Operation(summary = "What a directory holds")
    @Parameter(
            name = "path",
            in = ParameterIn.QUERY,
            required = true,
            description = "percent-encoded bytes")
    public Directory list(@PathParam("id") String id, @Context UriInfo uri) {
        ByteString path = GuestPaths.of(uri);
        return call(
                id,
                leg -> {
                    BlockingClientCall<?, FileInfo> entries =
                            leg.stub(ProcessesResource.CALL).listDirectory(file(leg, path));
                    List<FileView> files = new ArrayList<>();
                    FileInfo next = entries.read();
                    while (next != null && files.size() < ENTRIES_MAX) {
                        files.add(FileView.of(next));
                        next = entries.read();
                    }
                    entries.cancel("the listing is full", null);
                    return new Directory(files, next != null);
                });
    }

    @POST
    @Path("directories")
    @Consumes(MediaType.WILDCARD)
    @Operation(summary = "Make a directory")
    @RequestBody(content = @Content(schema = @Schema(implementation = MakeDirectory.class)))
    @APIResponse(
            responseCode = "201",
            content = @Content(schema = @Schema(implementation = FileView.class)))
    public Response makeDirectory(@PathParam("id") String id, InputStream body) {
        MakeDirectory request = bodies.read(body, MakeDirectory.class).value();
        ByteString path = GuestPaths.of(request.path());
        int bits = mode(request.mode());
        FileInfo made =
                call(
                        id,
                        leg ->
                                leg.stub(ProcessesResource.CALL)
                                        .makeDirectory(
                                                MakeDirectoryRequest.newBuilder()
                                                        .setFile(file(leg, path))
                                                        .setParents(
                                                                Boolean.TRUE.equals(
                                                                        request.parents()))
                                                        .setMode(bits)
                                                        .build()));
        return Response.status(201).entity(FileView.of(made)).build();
    }
}
