package dev.space.service.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.google.protobuf.ByteString;
import dev.space.model.SessionId;
import dev.space.nodeapi.v1.FileChange;
import dev.space.nodeapi.v1.FileInfo;
import dev.space.service.auth.Caller;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.StreamingOutput;
import jakarta.ws.rs.core.UriInfo;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.ParameterIn;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Files of snapshots, and what changed in a session; no sandbox is started for it. */
@Path("/v1/sessions/{id}")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Time machine")
@RunOnVirtualThread
public class BrowseResource {
    private static final int CHANGES_DEFAULT = 1000;

    private final Caller caller;
    private final DiskCalls disks;

    @Inject
    public BrowseResource(Caller caller, DiskCalls disks) {
        this.caller = caller;
        this.disks = disks;
    }

    /**
     * Differences in the order of a walk.
     *
     * @param cursor where to go on; absent when these are all
     */
    @Schema(name = "Changes")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Changes(List<Change> changes, @Nullable String cursor) {}

    /**
     * One difference.
     *
     * @param what of a modified file: kind, content, target, mode, owner, time
     * @param sha256 of its content, where it was asked for
     * @param file as it is; as it was when it was deleted
     */
    @Schema(name = "Change")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Change(
            String change, @Nullable List<String> what, @Nullable String sha256, FileView file) {
        private static Change of(FileChange change) {
            return new Change(
                    change.getChange(),
                    change.getWhatCount() == 0 ? null : List.copyOf(change.getWhatList()),
                    change.getSha256().isEmpty() ? null : change.getSha256(),
                    FileView.of(change.getFile()));
        }
    }

    private DiskCalls.Disk disk(String id, String snapshot) {
        return disks.snapshot(caller.project(), Requests.session(id), Requests.snapshot(snapshot));
    }

    private static ByteString absolute(ByteString path) {
        if (path.byteAt(0) != '/') {
            throw CreateSession.invalid("a path in a snapshot begins with /");
        }
        return path;
    }

    @GET
    @Path("snapshots/{snapshot}/files")
    @Produces(MediaType.APPLICATION_OCTET_STREAM)
    @Operation(summary = "Read a file of a snapshot, or one range of it")
    @Parameter(
            name = "path",
            in = ParameterIn.QUERY,
            required = true,
            description = "percent-encoded bytes")
    public Response read(
            @PathParam("id") String id,
            @PathParam("snapshot") String snapshot,
            @Context UriInfo uri,
            @HeaderParam("Range") @Nullable String rangeHeader,
            @HeaderParam("If-Range") @Nullable String ifRange) {
        ByteString path = absolute(GuestPaths.of(uri));
        DiskCalls.Disk disk = disk(id, snapshot);
        ByteRange range = ByteRange.parse(rangeHeader, ifRange);
        if (range == null) {
            FileStreams.Reading reading = disks.read(disk, path, 0, -1);
            return answer(200, reading).header("Space-File-Size", reading.info().getSize()).build();
        }
        long size = disks.stat(disk, path).getSize();
        long begin = range.begin(size);
        long end = range.end(size);
        return answer(206, disks.read(disk, path, begin, end - begin))
                .header("Content-Range", "bytes " + begin + "-" + (end - 1) + "/" + size)
                .build();
    }

    private static Response.ResponseBuilder answer(int status, FileStreams.Reading reading) {
        return Response.status(status)
                .entity((StreamingOutput) reading::copyTo)
                .type(MediaType.APPLICATION_OCTET_STREAM_TYPE)
                .header("Accept-Ranges", "bytes");
    }

    @GET
    @Path("snapshots/{snapshot}/files/stat")
    @Operation(summary = "What a file of a snapshot is")
    @Parameter(
            name = "path",
            in = ParameterIn.QUERY,
            required = true,
            description = "percent-encoded bytes")
    public FileView stat(
            @PathParam("id") String id,
            @PathParam("snapshot") String snapshot,
            @Context UriInfo uri) {
        ByteString path = absolute(GuestPaths.of(uri));
        return FileView.of(disks.stat(disk(id, snapshot), path));
    }

    @GET
    @Path("snapshots/{snapshot}/files/list")
    @Operation(summary = "What a directory of a snapshot holds, in the order of names")
    @Parameter(
            name = "path",
            in = ParameterIn.QUERY,
            required = true,
            description = "percent-encoded bytes")
    @Parameter(
            name = "after",
            in = ParameterIn.QUERY,
            description = "go on behind this file: the last path of the page before")
    public FilesResource.Directory list(
            @PathParam("id") String id,
            @PathParam("snapshot") String snapshot,
            @Context UriInfo uri) {
        ByteString path = absolute(GuestPaths.of(uri));
        ByteString after = name(GuestPaths.optional(uri, "after"));
        int max = FilesResource.ENTRIES_MAX;
        List<FileInfo> found = disks.list(disk(id, snapshot), path, after, max);
        return new FilesResource.Directory(
                found.stream().limit(max).map(FileView::of).toList(), found.size() > max);
    }

    /** The last part of a path. */
    private static ByteString name(ByteString path) {
        int begin = path.size();
        while (begin > 0 && path.byteAt(begin - 1) != '/') {
            begin--;
        }
        return path.substring(begin);
    }

    @GET
    @Path("changes")
    @Operation(
            summary = "What was added, modified and deleted between two moments",
            description =
                    "Without `from`: since the template; without `to`: until now, for which a clone"
                            + " of the running sandbox's disk is made. Both name snapshots.")
    @Parameter(name = "after", in = ParameterIn.QUERY, description = "cursor of the page before")
    public Changes changes(
            @PathParam("id") String id,
            @QueryParam("from") @Nullable String from,
            @QueryParam("to") @Nullable String to,
            @QueryParam("hash") @Parameter(schema = @Schema(type = SchemaType.BOOLEAN))
                    @Nullable String hash,
            @QueryParam("limit") @Nullable String limit,
            @Context UriInfo uri) {
        boolean hashed = Requests.flag("hash", hash);
        SessionId session = Requests.session(id);
        String project = caller.project();
        int max =
                limit == null
                        ? CHANGES_DEFAULT
                        : (int) Requests.number("limit", limit, 1, FilesResource.ENTRIES_MAX);
        ByteString after = GuestPaths.optional(uri, "after");
        DiskCalls.Disk end =
                to == null
                        ? disks.now(project, session)
                        : disks.snapshot(project, session, Requests.snapshot(to));
        DiskCalls.Disk begin =
                from == null
                        ? disks.template(project, session, end.node())
                        : disks.snapshot(project, session, Requests.snapshot(from));
        List<FileChange> found = disks.changes(begin, end, after, max, hashed);
        List<Change> page = found.stream().limit(max).map(Change::of).toList();
        return new Changes(page, found.size() > max ? page.getLast().file().path() : null);
    }
}
