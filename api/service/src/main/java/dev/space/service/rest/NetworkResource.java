package dev.space.service.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.service.auth.Caller;
import dev.space.service.node.NetworkPush;
import dev.space.store.NetworkRows;
import dev.space.store.view.EventEntity;
import dev.space.store.view.Views;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** What a session's sandbox may reach, changed at any time, and what it reached or was refused. */
@Path("/v1/sessions/{id}/network")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Network")
@RunOnVirtualThread
public class NetworkResource {
    private final Caller caller;
    private final JsonBodies bodies;
    private final NetworkPolicies policies;
    private final NetworkRows rows;
    private final NetworkPush push;
    private final Views.Events events;

    @Inject
    public NetworkResource(
            Caller caller,
            JsonBodies bodies,
            NetworkPolicies policies,
            NetworkRows rows,
            NetworkPush push,
            Views.Events events) {
        this.caller = caller;
        this.bodies = bodies;
        this.policies = policies;
        this.rows = rows;
        this.push = push;
        this.events = events;
    }

    /** What a session may reach. */
    @Schema(name = "Network")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record NetworkView(
            long version,
            @Schema(description = "Absent: nothing", type = SchemaType.OBJECT)
                    @Nullable Map<String, Object> policy,
            @Schema(
                            description =
                                    "After a change: whether the running sandbox's gateway has it"
                                            + " already; else it has it within seconds")
                    @Nullable Boolean applied) {}

    /** What was reached or refused, newest first. */
    @Schema(name = "NetworkLog")
    public record NetworkLog(List<NetworkEntry> entries) {}

    /** One name, connection or request. */
    @Schema(name = "NetworkEntry")
    public record NetworkEntry(
            long id, Instant at, String kind, String verdict, String target, String detail) {
        private static NetworkEntry of(EventEntity row) {
            String kind = row.action.substring(Views.Events.EGRESS.length());
            return new NetworkEntry(row.id, row.at, kind, row.outcome, row.object, row.reason);
        }
    }

    @GET
    @Operation(summary = "What a session may reach")
    public NetworkView get(@PathParam("id") String id) {
        return view(found(Requests.session(id)), null);
    }

    private NetworkRows.Network found(SessionId session) {
        return rows.of(caller.project(), session)
                .orElseThrow(() ->
                        new SpaceException(ErrorCode.NOT_FOUND, "there is no session " + session));
    }

    @PUT
    @Consumes(MediaType.WILDCARD)
    @Operation(summary = "Change what a session may reach; a running sandbox's at once")
    @RequestBody(content = @Content(schema = @Schema(type = SchemaType.OBJECT)))
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = NetworkView.class)))
    @SuppressWarnings("unchecked") // an object's keys are text
    public NetworkView put(@PathParam("id") String id, InputStream body) {
        SessionId session = Requests.session(id);
        Map<String, Object> given = bodies.read(body, Map.class, "PUT", id, "network").value();
        String policy = String.valueOf(policies.canonical(given));
        NetworkRows.Placed placed = rows.set(caller.project(), session, policy, caller.actor());
        return view(placed.network(), push.push(session, placed));
    }

    private NetworkView view(NetworkRows.Network network, @Nullable Boolean applied) {
        return new NetworkView(network.version(), policies.shown(network.policy()), applied);
    }

    @GET
    @Path("log")
    @Operation(summary = "What a session reached and was refused, newest first")
    public NetworkLog log(@PathParam("id") String id, @QueryParam("limit") @Nullable String limit) {
        SessionId session = Requests.session(id);
        NetworkRows.Network _ = found(session);
        return new NetworkLog(
                events.egress(session.value(), Requests.limit(limit)).stream()
                        .map(NetworkEntry::of)
                        .toList());
    }
}
