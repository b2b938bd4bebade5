package dev.space.service.rest;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.service.auth.Caller;
import dev.space.service.command.EnvCipher;
import dev.space.service.command.ForkCommands;
import dev.space.service.command.IdSource;
import dev.space.store.ForkStore;
import dev.space.store.RepairStore;
import dev.space.store.RequestStore.IdempotencyKey;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.InputStream;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** New sessions that go on from where this one is. */
@Path("/v1/sessions/{id}")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Sessions")
@RunOnVirtualThread
public class ForkResource {
    private final Caller caller;
    private final ForkCommands commands;
    private final Answers answers;
    private final JsonBodies bodies;
    private final ForkStore forks;
    private final RepairStore rows;
    private final EnvCipher cipher;
    private final IdSource ids;
    private final ObjectMapper json;
    private final Clock clock;

    @Inject
    public ForkResource(
            Caller caller,
            ForkCommands commands,
            Answers answers,
            JsonBodies bodies,
            ForkStore forks,
            RepairStore rows,
            EnvCipher cipher,
            IdSource ids,
            ObjectMapper json,
            Clock clock) {
        this.caller = caller;
        this.commands = commands;
        this.answers = answers;
        this.bodies = bodies;
        this.forks = forks;
        this.rows = rows;
        this.cipher = cipher;
        this.ids = ids;
        this.json = json;
        this.clock = clock;
    }

    /** What a session that is restored from a snapshot has of its own. */
    @Schema(name = "RestoreRequest")
    public record RestoreRequest(
            @Schema(description = "laid over the source's labels")
                    @Nullable Map<String, String> labels,
            @Schema(description = "laid over the source's environment")
                    @Nullable Map<String, String> env,
            @Schema(description = "absent: the source's, where it is still to come")
                    CreateSession.@Nullable Deadline deadline) {}

    @POST
    @Path("fork")
    @Consumes(MediaType.WILDCARD)
    @Operation(summary = "Make sessions that continue from this one, and wait until they run")
    @RequestBody(content = @Content(schema = @Schema(implementation = ForkRequest.class)))
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = ForkView.class)))
    public Response fork(
            @PathParam("id") String id,
            InputStream body,
            @HeaderParam(Requests.IDEMPOTENCY_KEY) @Nullable String keyHeader,
            @QueryParam("wait") @Nullable String waitSeconds) {
        Duration wait = Requests.wait(waitSeconds);
        SessionId source = Requests.session(id);
        JsonBodies.Body<ForkRequest> request =
                bodies.read(body, ForkRequest.class, "POST", source.value(), "fork");
        IdempotencyKey key = Requests.key(keyHeader, caller.project(), request.hash());
        return answer(source, request.value(), key, wait, 200);
    }

    @POST
    @Path("snapshots/{snapshot}/restore")
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary =
                    "Make one session that goes on from a snapshot of this one, wherever it is, and"
                            + " wait until it runs; this one stays as it is")
    @RequestBody(content = @Content(schema = @Schema(implementation = RestoreRequest.class)))
    @APIResponse(
            responseCode = "201",
            content = @Content(schema = @Schema(implementation = ForkView.class)))
    public Response restoreAsNew(
            @PathParam("id") String id,
            @PathParam("snapshot") String snapshot,
            InputStream body,
            @HeaderParam(Requests.IDEMPOTENCY_KEY) @Nullable String keyHeader,
            @QueryParam("wait") @Nullable String waitSeconds) {
        Duration wait = Requests.wait(waitSeconds);
        SessionId source = Requests.session(id);
        JsonBodies.Body<RestoreRequest> request =
                bodies.read(
                        body, RestoreRequest.class, "POST", source.value(), snapshot, "restore");
        IdempotencyKey key = Requests.key(keyHeader, caller.project(), request.hash());
        RestoreRequest own = request.value();
        ForkRequest fork =
                new ForkRequest(1, snapshot, own.labels(), own.env(), own.deadline(), null);
        return answer(source, fork, key, wait, 201);
    }

    private Response answer(
            SessionId source,
            ForkRequest request,
            @Nullable IdempotencyKey key,
            Duration wait,
            int status) {
        var requested = commands.fork(checked(source, request), key, wait);
        return answers.of(
                requested,
                status,
                wait,
                key,
                () -> {
                    ForkView view =
                            ForkView.of(
                                    rows.operation(requested.operation()).orElseThrow(),
                                    forks.children(requested.operation()));
                    return new Answers.Shown(view, view.isOver());
                });
    }

    private ForkStore.Fork checked(SessionId id, ForkRequest request) {
        ForkStore.Source source =
                forks.source(caller.project(), id)
                        .orElseThrow(() ->
                                new SpaceException(
                                        ErrorCode.NOT_FOUND, "there is no session " + id));
        String labels = text(request.checkedLabels(parsed(source.labelsJson())));
        Map<String, String> env = request.checkedEnv(cipher.decrypt(id, source.envEncrypted()));
        List<ForkStore.Child> children =
                Stream.generate(ids::session)
                        .limit(request.checkedCount())
                        .map(child ->
                                new ForkStore.Child(
                                        child, ids.operation(), labels, cipher.encrypt(child, env)))
                        .toList();
        CreateSession.Deadline deadline = request.deadline();
        return new ForkStore.Fork(
                caller.project(),
                id,
                ids.operation(),
                caller.actor(),
                request.checkedSnapshot(),
                children,
                deadline == null ? null : deadline.at(clock),
                deadline == null ? null : deadline.checkedAction(),
                Boolean.TRUE.equals(request.inheritGrants()));
    }

    private Map<String, String> parsed(String labels) {
        try {
            return json.readValue(labels, new TypeReference<>() {});
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private String text(Map<String, String> labels) {
        try {
            return json.writeValueAsString(labels);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
