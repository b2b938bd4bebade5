package dev.space.service.rest;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.space.model.Command;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.Size;
import dev.space.service.auth.Caller;
import dev.space.service.command.EnvCipher;
import dev.space.service.command.SessionCommands;
import dev.space.service.command.WorkflowsAhead;
import dev.space.store.NodeStore;
import dev.space.store.RequestStore;
import dev.space.store.RequestStore.IdempotencyKey;
import dev.space.store.SessionPolicy;
import dev.space.store.view.Views;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
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
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Sessions and their lifecycle commands. */
@Path("/v1/sessions")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Sessions")
@RunOnVirtualThread
public class SessionsResource {
    private final Caller caller;
    private final SessionCommands commands;
    private final Answers answers;
    private final JsonBodies bodies;
    private final NodeStore nodes;
    private final EnvCipher cipher;
    private final WorkflowsAhead ahead;
    private final NetworkPolicies networks;
    private final Views.Sessions sessions;
    private final ObjectMapper json;
    private final Clock clock;

    @Inject
    public SessionsResource(
            Caller caller,
            SessionCommands commands,
            Answers answers,
            JsonBodies bodies,
            NodeStore nodes,
            EnvCipher cipher,
            WorkflowsAhead ahead,
            NetworkPolicies networks,
            Views.Sessions sessions,
            ObjectMapper json,
            Clock clock) {
        this.caller = caller;
        this.commands = commands;
        this.answers = answers;
        this.bodies = bodies;
        this.nodes = nodes;
        this.cipher = cipher;
        this.ahead = ahead;
        this.networks = networks;
        this.sessions = sessions;
        this.json = json;
        this.clock = clock;
    }

    /** A page of sessions. */
    @Schema(name = "SessionList")
    public record SessionList(List<SessionView> sessions, @Nullable String cursor) {}

    @POST
    @Consumes(MediaType.WILDCARD)
    @Operation(summary = "Create a session and wait until it runs")
    @RequestBody(content = @Content(schema = @Schema(implementation = CreateSession.class)))
    @APIResponse(
            responseCode = "201",
            content = @Content(schema = @Schema(implementation = SessionView.class)))
    public Response create(
            InputStream body,
            @HeaderParam(Requests.IDEMPOTENCY_KEY) @Nullable String keyHeader,
            @QueryParam("wait") @Nullable String waitSeconds) {
        Duration wait = Requests.wait(waitSeconds);
        JsonBodies.Body<CreateSession> request =
                bodies.read(body, CreateSession.class, "POST", "/v1/sessions");
        IdempotencyKey key = Requests.key(keyHeader, caller.project(), request.hash());
        var requested = commands.create(checked(request.value()), caller.actor(), key, wait);
        return answers.of(requested, caller.project(), 201, wait, key);
    }

    private RequestStore.NewSession checked(CreateSession request) {
        Size size = request.checkedSize();
        Map<String, String> labels = request.checkedLabels();
        Map<String, String> env = request.checkedEnv();
        String network = networks.canonical(request.network());
        Optional<String> digest = request.wellFormedTemplate().flatMap(nodes::templateDigest);
        String template =
                request.checkedTemplate(
                        digest.isPresent()
                                ? List.of(String.valueOf(request.template()))
                                : nodes.templateNames());
        @Nullable Instant deadlineAt = request.deadlineAt(clock);
        @Nullable String deadlineAction = request.deadlineAction();
        SessionPolicy policy = request.checkedPolicy();
        // Only now: nothing is wrong with the request.
        SessionId id = ahead.take();
        return new RequestStore.NewSession(
                id,
                caller.organisation(),
                caller.project(),
                template,
                digest.or(() -> nodes.templateDigest(template)).orElseThrow(),
                size.wireName(),
                null,
                text(labels),
                cipher.encrypt(id, env),
                Boolean.TRUE.equals(request.autoResume()),
                deadlineAt,
                deadlineAction,
                policy,
                network);
    }

    private String text(Map<String, String> labels) {
        try {
            return json.writeValueAsString(labels);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @GET
    @Operation(summary = "List sessions, newest first")
    public SessionList list(
            @QueryParam("state") @Nullable String state,
            @QueryParam("label") List<String> labels,
            @QueryParam("limit") @Nullable String limit,
            @QueryParam("cursor") @Nullable String cursor) {
        int max = Requests.limit(limit);
        String after = cursor == null ? null : Requests.session(cursor).value();
        List<SessionView> page =
                sessions
                        .list(caller.project(), state(state), text(labels(labels)), after, max)
                        .stream()
                        .map(SessionView::of)
                        .toList();
        return new SessionList(page, page.size() == max ? page.getLast().id() : null);
    }

    private static @Nullable SessionState state(@Nullable String text) {
        if (text == null) {
            return null;
        }
        return Arrays.stream(SessionState.values())
                .filter(s -> s.name().equals(text.toUpperCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() ->
                        CreateSession.invalid("state is one of " + List.of(SessionState.values())));
    }

    private static Map<String, String> labels(List<String> filters) {
        Map<String, String> labels = new TreeMap<>();
        for (String filter : filters) {
            int equals = filter.indexOf('=');
            if (equals < 1) {
                throw CreateSession.invalid("label is key=value");
            }
            labels.put(filter.substring(0, equals), filter.substring(equals + 1));
        }
        return CreateSession.checkLabels(labels);
    }

    @GET
    @Path("{id}")
    @Operation(summary = "One session, as its row says now")
    public SessionView get(@PathParam("id") String id) {
        return answers.session(caller.project(), Requests.session(id));
    }

    @DELETE
    @Path("{id}")
    @Operation(summary = "Destroy a session with all its contents; deleting twice is one deletion")
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = SessionView.class)))
    public Response delete(
            @PathParam("id") String id,
            @HeaderParam(Requests.IDEMPOTENCY_KEY) @Nullable String keyHeader,
            @QueryParam("wait") @Nullable String waitSeconds) {
        Duration wait = Requests.wait(waitSeconds);
        SessionId session = Requests.session(id);
        IdempotencyKey key =
                Requests.key(
                        keyHeader,
                        caller.project(),
                        JsonBodies.hash(new byte[0], "DELETE", session.value()));
        var requested = commands.destroy(caller.project(), session, caller.actor(), key, wait);
        return answers.of(requested, caller.project(), 200, wait, key);
    }

    @POST
    @Path("{id}/{command:(?:pause|resume|checkpoint|rollback|suspend|restore|recover)}")
    @Consumes(MediaType.WILDCARD)
    @Operation(summary = "Send a lifecycle command and wait until it is done")
    @RequestBody(content = @Content(schema = @Schema(implementation = CommandBody.class)))
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = SessionView.class)))
    public Response command(
            @PathParam("id") String id,
            @PathParam("command") String name,
            InputStream body,
            @HeaderParam(Requests.IDEMPOTENCY_KEY) @Nullable String keyHeader,
            @QueryParam("wait") @Nullable String waitSeconds) {
        Duration wait = Requests.wait(waitSeconds);
        SessionId session = Requests.session(id);
        JsonBodies.Body<CommandBody> request =
                bodies.read(body, CommandBody.class, "POST", session.value(), name);
        Command command = Command.valueOf(name.toUpperCase(Locale.ROOT));
        IdempotencyKey key = Requests.key(keyHeader, caller.project(), request.hash());
        answers.session(caller.project(), session);
        var requested =
                commands.command(
                        caller.project(),
                        session,
                        command,
                        request.value().checked(command),
                        caller.actor(),
                        key,
                        wait);
        return answers.of(requested, caller.project(), 200, wait, key);
    }
}
