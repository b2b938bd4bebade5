package dev.space.service.rest;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.store.NodeStore;
import dev.space.store.view.Views;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.time.Clock;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** What whoever runs the platform says of a node that is taken out of service and put back. */
@Path("/operator/v1/nodes")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Operator")
@RunOnVirtualThread
public class OperatorNodesResource {
    private final NodeStore nodes;
    private final Views.Nodes views;
    private final Clock clock;

    @Inject
    public OperatorNodesResource(NodeStore nodes, Views.Nodes views, Clock clock) {
        this.nodes = nodes;
        this.views = views;
        this.clock = clock;
    }

    @GET
    @Operation(summary = "Nodes with their figures")
    public PlatformResource.NodeList list() {
        Instant now = clock.instant();
        return new PlatformResource.NodeList(
                views.listAll().stream().map(n -> PlatformResource.view(n, now)).toList());
    }

    /** What was done. */
    @Schema(name = "OperatorNode")
    public record OperatorNode(String id, String action) {}

    @POST
    @Path("{id}/{action:(?:cordon|uncordon|off)}")
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary =
                    "Place nothing new on a node, or place there again; off: it and all its VMs are"
                            + " stopped, so that nobody waits for the end of its lease")
    public OperatorNode act(@PathParam("id") String id, @PathParam("action") String action) {
        boolean known =
                switch (action) {
                    case "cordon" -> nodes.cordon(id, true);
                    case "uncordon" -> nodes.cordon(id, false);
                    default -> nodes.off(id);
                };
        if (!known) {
            throw new SpaceException(
                    ErrorCode.NOT_FOUND, "there is no node " + CreateSession.printable(id));
        }
        return new OperatorNode(id, action);
    }
}
