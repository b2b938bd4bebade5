package dev.space.service.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.service.auth.Caller;
import dev.space.service.node.NetworkPush;
import dev.space.store.GrantRows;
import dev.space.store.GrantRows.Grant;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.io.InputStream;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Which credentials a session may use. A grant opens no host: the network policy does. */
@Path("/v1/sessions/{id}/grants")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Credentials")
@RunOnVirtualThread
public class GrantsResource {
    /** Longest grant that is told in seconds: ten years. */
    private static final long SECONDS_MAX = 315_360_000;

    private final Caller caller;
    private final JsonBodies bodies;
    private final GrantRows rows;
    private final NetworkPush push;
    private final Clock clock;

    @Inject
    public GrantsResource(
            Caller caller, JsonBodies bodies, GrantRows rows, NetworkPush push, Clock clock) {
        this.caller = caller;
        this.bodies = bodies;
        this.rows = rows;
        this.push = push;
        this.clock = clock;
    }

    /** Until when; neither: until it is taken back. */
    @Schema(name = "GrantRequest")
    public record GrantRequest(
            @Schema(description = "time from which on it does not hold") @Nullable String expires,
            @Schema(description = "the same in seconds from now") @Nullable Long seconds) {}

    /** One credential that the session may use. */
    @Schema(name = "Grant")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record GrantView(
            String credential,
            String credentialId,
            @Schema(description = "of the credential") long version,
            @Schema(description = "the grant's end or the credential's, whichever is first")
                    @Nullable Instant expires,
            Instant grantedAt,
            @Schema(description = "id of the key that granted it") String grantedBy,
            @Schema(
                            description =
                                    "After a change: whether the running sandbox's gateway has it"
                                            + " already; else it has it within seconds")
                    @Nullable Boolean applied) {

        private static GrantView of(Grant row, @Nullable Boolean applied) {
            return new GrantView(
                    row.name(),
                    row.credentialId(),
                    row.version(),
                    row.expires(),
                    row.granted(),
                    row.grantedBy(),
                    applied);
        }
    }

    /** All that a session may use. */
    @Schema(name = "GrantList")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record GrantList(
            List<GrantView> grants,
            @Schema(description = "As in a grant") @Nullable Boolean applied) {}

    @GET
    @Operation(summary = "Credentials that a session may use now")
    public GrantList list(@PathParam("id") String id) {
        return grants(Requests.session(id), null);
    }

    private GrantList grants(SessionId session, @Nullable Boolean applied) {
        return new GrantList(
                rows.list(CredentialsResource.asker(caller), session).stream()
                        .map(row -> GrantView.of(row, null))
                        .toList(),
                applied);
    }

    @PUT
    @Path("{credential}")
    @Consumes(MediaType.WILDCARD)
    @Operation(summary = "Let a session use what the name means now; a running sandbox's at once")
    @RequestBody(content = @Content(schema = @Schema(implementation = GrantRequest.class)))
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = GrantView.class)))
    public GrantView put(
            @PathParam("id") String id, @PathParam("credential") String name, InputStream body) {
        SessionId session = Requests.session(id);
        GrantRequest wanted = bodies.read(body, GrantRequest.class, "PUT", id, "grants").value();
        Instant expires = expires(wanted);
        Grant grant =
                rows.grant(
                        CredentialsResource.asker(caller),
                        session,
                        CredentialsResource.checkedName(name),
                        expires);
        return GrantView.of(grant, push.push(caller.project(), session));
    }

    private @Nullable Instant expires(GrantRequest wanted) {
        Long seconds = wanted.seconds();
        if (seconds != null) {
            if (wanted.expires() != null) {
                throw CreateSession.invalid("give one of expires and seconds");
            }
            if (seconds < 1 || seconds > SECONDS_MAX) {
                throw CreateSession.invalid("seconds is from 1 to " + SECONDS_MAX);
            }
            return Instant.ofEpochSecond(clock.instant().getEpochSecond() + seconds);
        }
        Instant at = SetCredential.time("expires", wanted.expires());
        if (at != null && !at.isAfter(clock.instant())) {
            throw CreateSession.invalid("expires is over already");
        }
        return at;
    }

    @DELETE
    @Path("{credential}")
    @Operation(summary = "Take a grant back; a running sandbox's at once. Answers what is left")
    public GrantList delete(@PathParam("id") String id, @PathParam("credential") String name) {
        SessionId session = Requests.session(id);
        if (!rows.revoke(CredentialsResource.asker(caller), session, name)) {
            throw new SpaceException(
                    ErrorCode.NOT_FOUND,
                    "the session has no grant of " + CreateSession.printable(name));
        }
        return grants(session, push.push(caller.project(), session));
    }
}
