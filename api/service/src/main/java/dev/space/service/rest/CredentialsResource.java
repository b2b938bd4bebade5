package dev.space.service.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.space.model.ErrorCode;
import dev.space.model.Secret;
import dev.space.model.SpaceException;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.CredentialUse;
import dev.space.service.auth.Caller;
import dev.space.service.command.IdSource;
import dev.space.service.credential.CredentialStore;
import dev.space.service.credential.VaultCleanup;
import dev.space.store.CredentialRows;
import dev.space.store.CredentialRows.Asker;
import dev.space.store.CredentialRows.Credential;
import dev.space.store.CredentialRows.Scope;
import dev.space.store.CredentialRows.Setting;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.io.InputStream;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Secrets that sandboxes use and never have. What is set here nobody reads back. */
@Path("/v1/credentials")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Credentials")
@RunOnVirtualThread
public class CredentialsResource {
    private final Caller caller;
    private final JsonBodies bodies;
    private final CredentialRows rows;
    private final CredentialStore store;
    private final VaultCleanup cleanup;
    private final IdSource ids;
    private final ObjectMapper json;
    private final Clock clock;

    @Inject
    public CredentialsResource(
            Caller caller,
            JsonBodies bodies,
            CredentialRows rows,
            CredentialStore store,
            VaultCleanup cleanup,
            IdSource ids,
            ObjectMapper json,
            Clock clock) {
        this.caller = caller;
        this.bodies = bodies;
        this.rows = rows;
        this.store = store;
        this.cleanup = cleanup;
        this.ids = ids;
        this.json = json;
        this.clock = clock;
    }

    /** All about a credential but its secret. */
    @Schema(name = "Credential")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record CredentialView(
            String id,
            String name,
            @Schema(description = "project or organisation") String scope,
            @Schema(description = "grows with each setting") long version,
            @Schema(implementation = SetCredential.GrantedHost[].class) JsonNode hosts,
            @Schema(implementation = String[].class) @Nullable JsonNode methods,
            @Schema(implementation = String.class) @Nullable JsonNode path,
            @Schema(type = SchemaType.OBJECT) JsonNode injection,
            @Schema(implementation = SetCredential.Limit.class) @Nullable JsonNode limit,
            String owner,
            @Nullable Instant expires,
            @Nullable Instant rotateAfter,
            @Schema(description = "whether rotateAfter is over") boolean rotationDue,
            Instant createdAt,
            Instant setAt,
            @Schema(description = "id of the key that set it") String setBy,
            @Schema(description = "sessions that were granted it") long sessions) {}

    /** What a project can grant. */
    @Schema(name = "CredentialList")
    public record CredentialList(List<CredentialView> credentials) {}

    @PUT
    @Path("{name}")
    @Consumes(MediaType.WILDCARD)
    @Operation(summary = "Set a credential: make it, or give it a new secret and all else anew")
    @RequestBody(content = @Content(schema = @Schema(implementation = SetCredential.class)))
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = CredentialView.class)))
    public CredentialView put(@PathParam("name") String name, InputStream body) {
        SetCredential wanted =
                bodies.read(body, SetCredential.class, "PUT", "/v1/credentials").value();
        Scope scope = SetCredential.checkedScope(wanted.scope());
        CredentialUse use = wanted.checkedUse();
        Setting setting =
                new Setting(
                        scope == null ? Scope.PROJECT : scope,
                        checkedName(name),
                        use,
                        wanted.checkedOwner(),
                        wanted.checkedExpires(clock),
                        wanted.checkedRotateAfter());
        try (Secret secret = wanted.checkedSecret(setting.name(), use)) {
            Credential set =
                    store.inTurn(() ->
                            rows.set(
                                    asker(caller),
                                    setting,
                                    ids.text(CredentialGrant.ID_PREFIX),
                                    (owner, id, version) ->
                                            store.keep(owner, id, version, use, secret)));
            cleanup.soon();
            return view(set);
        }
    }

    static Asker asker(Caller caller) {
        return new Asker(caller.organisation(), caller.project(), caller.actor());
    }

    static String checkedName(String name) {
        try {
            return CredentialGrant.checkedName(name);
        } catch (IllegalArgumentException malformed) {
            throw CreateSession.invalid(String.valueOf(malformed.getMessage()));
        }
    }

    @GET
    @Operation(summary = "Credentials of the project and of its organisation, without secrets")
    public CredentialList list() {
        return new CredentialList(rows.list(asker(caller)).stream().map(this::view).toList());
    }

    @GET
    @Path("{name}")
    @Operation(summary = "What a name means: the project's credential, else the organisation's")
    public CredentialView get(
            @PathParam("name") String name, @QueryParam("scope") @Nullable String scope) {
        return view(
                rows.find(asker(caller), name, SetCredential.checkedScope(scope))
                        .orElseThrow(() -> absent(name)));
    }

    @DELETE
    @Path("{name}")
    @Operation(summary = "Delete a credential with all its grants; answers what it was")
    public CredentialView delete(
            @PathParam("name") String name, @QueryParam("scope") @Nullable String scope) {
        Credential deleted =
                rows.delete(asker(caller), name, SetCredential.checkedScope(scope))
                        .orElseThrow(() -> absent(name));
        cleanup.soon();
        return view(deleted);
    }

    private static SpaceException absent(String name) {
        return new SpaceException(
                ErrorCode.NOT_FOUND, "there is no credential " + CreateSession.printable(name));
    }

    private CredentialView view(Credential row) {
        JsonNode use = use(row.usedFor());
        Instant rotate = row.rotateAfter();
        return new CredentialView(
                row.id(),
                row.name(),
                row.scope().name().toLowerCase(Locale.ROOT),
                row.version(),
                use.get("hosts"),
                use.get("methods"),
                use.get("path"),
                use.get("injection"),
                use.get("limit"),
                row.owner(),
                row.expires(),
                rotate,
                rotate != null && !rotate.isAfter(clock.instant()),
                row.created(),
                row.set(),
                row.setBy(),
                row.sessions());
    }

    private JsonNode use(String usedFor) {
        try {
            return json.readTree(usedFor);
        } catch (JsonProcessingException damaged) {
            throw new IllegalStateException("a stored credential is not JSON", damaged);
        }
    }
}
