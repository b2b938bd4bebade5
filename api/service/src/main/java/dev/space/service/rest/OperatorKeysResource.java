package dev.space.service.rest;

import dev.space.model.ErrorCode;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import dev.space.service.key.LineageKeys;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.HexFormat;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** What opens a stored snapshot without the platform; for whoever runs it alone, and audited. */
@Path("/operator/v1/snapshots")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Operator")
@RunOnVirtualThread
public class OperatorKeysResource {
    private static final String ACTOR = "operator";

    private final LineageKeys keys;

    @Inject
    public OperatorKeysResource(LineageKeys keys) {
        this.keys = keys;
    }

    /** The key is that of all that the session and its forks stored, in hexadecimal digits. */
    @Schema(name = "SnapshotKey")
    public record SnapshotKey(String snapshot, String manifest, String digest, String key) {}

    @POST
    @Path("{id}/key")
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary =
                    "The key of a snapshot in the object store, to check it offline; an event of"
                            + " its session (`export_key`)")
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = SnapshotKey.class)))
    public Response key(@PathParam("id") String id) {
        SnapshotId snapshot = snapshot(id);
        try (LineageKeys.Exported exported = keys.export(snapshot, ACTOR)) {
            return Response.ok(
                            new SnapshotKey(
                                    snapshot.value(),
                                    exported.stored().manifestKey(),
                                    exported.stored().manifestDigest(),
                                    HexFormat.of().formatHex(exported.key().bytes())))
                    .header(HttpHeaders.CACHE_CONTROL, "no-store")
                    .build();
        }
    }

    private static SnapshotId snapshot(String id) {
        try {
            return new SnapshotId(id);
        } catch (IllegalArgumentException e) {
            throw new SpaceException(
                    ErrorCode.SNAPSHOT_NOT_FOUND,
                    "there is no snapshot " + CreateSession.printable(id),
                    e);
        }
    }
}
