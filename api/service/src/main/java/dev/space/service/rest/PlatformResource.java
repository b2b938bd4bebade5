package dev.space.service.rest;

import dev.space.service.auth.Caller;
import dev.space.store.view.NodeEntity;
import dev.space.store.view.Views;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.time.Clock;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** What the platform has: templates, sizes and nodes; and who is asking. */
@Path("/v1")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Platform")
@RunOnVirtualThread
public class PlatformResource {
    private final Caller caller;
    private final Views.Templates templates;
    private final Views.Nodes nodes;
    private final Views.Projects projects;
    private final Clock clock;

    @Inject
    public PlatformResource(
            Caller caller,
            Views.Templates templates,
            Views.Nodes nodes,
            Views.Projects projects,
            Clock clock) {
        this.caller = caller;
        this.templates = templates;
        this.nodes = nodes;
        this.projects = projects;
        this.clock = clock;
    }

    /** A template and the sizes it can be started in. */
    @Schema(name = "Template")
    public record TemplateView(String name, String digest, Instant reportedAt) {}

    /** A size of the closed set. */
    @Schema(name = "Size")
    public record SizeView(String name, int vcpus, int memoryMiB, int diskMiB) {}

    /** Templates and sizes. */
    @Schema(name = "TemplateList")
    public record TemplateList(List<TemplateView> templates, List<SizeView> sizes) {}

    /** A node. */
    @Schema(name = "Node")
    public record NodeView(
            String id,
            boolean alive,
            @Schema(description = "Being drained: nothing new is placed there") boolean cordoned,
            String engine,
            String accelerator,
            String version,
            int slots,
            int slotsFree,
            long memoryBytes,
            long memoryFreeBytes,
            long diskBytes,
            long diskFreeBytes,
            Instant leaseUntil) {}

    /** Nodes. */
    @Schema(name = "NodeList")
    public record NodeList(List<NodeView> nodes) {}

    /** Who the API key speaks for. */
    @Schema(name = "WhoAmI")
    public record WhoAmI(
            String key, String keyName, String organisation, String project, String projectName) {}

    @GET
    @Path("templates")
    @Operation(summary = "Published templates and sizes")
    public TemplateList templates() {
        return new TemplateList(
                templates.listAll().stream()
                        .map(t -> new TemplateView(t.name, t.digest, t.reportedAt))
                        .toList(),
                Arrays.stream(dev.space.model.Size.values())
                        .map(s -> new SizeView(s.wireName(), s.vcpus(), s.memoryMiB(), s.diskMiB()))
                        .toList());
    }

    @GET
    @Path("nodes")
    @Operation(summary = "Nodes with their figures")
    public NodeList nodes() {
        Instant now = clock.instant();
        return new NodeList(nodes.listAll().stream().map(n -> view(n, now)).toList());
    }

    static NodeView view(NodeEntity node, Instant now) {
        return new NodeView(
                node.id,
                node.leaseUntil.isAfter(now),
                node.cordoned,
                node.engine,
                node.accelerator,
                node.version,
                node.slots,
                node.slotsFree,
                node.memoryBytes,
                node.memoryFreeBytes,
                node.diskBytes,
                node.diskFreeBytes,
                node.leaseUntil);
    }

    @GET
    @Path("whoami")
    @Operation(summary = "Who the API key speaks for")
    public WhoAmI whoami() {
        return new WhoAmI(
                caller.actor(),
                caller.keyName(),
                caller.organisation(),
                caller.project(),
                projects.findById(caller.project()).name);
    }
}
