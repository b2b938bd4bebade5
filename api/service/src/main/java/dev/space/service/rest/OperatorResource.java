package dev.space.service.rest;

import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SpaceException;
import dev.space.service.command.SessionCommands;
import dev.space.store.CommandArguments;
import dev.space.store.view.SessionEntity;
import dev.space.store.view.Views;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/**
 * What whoever runs the platform needs of every project: to see which sessions there are, to pause
 * and resume them around a stop, and to suspend what is on a node that is to be stopped. Nothing of
 * what is in a session.
 */
@Path("/operator/v1/sessions")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Operator")
@RunOnVirtualThread
public class OperatorResource {
    private static final String ACTOR = "operator";

    private final SessionCommands commands;
    private final Answers answers;
    private final Views.Sessions sessions;

    @Inject
    public OperatorResource(SessionCommands commands, Answers answers, Views.Sessions sessions) {
        this.commands = commands;
        this.answers = answers;
        this.sessions = sessions;
    }

    /** A session of any project. */
    @Schema(name = "OperatorSession")
    public record OperatorSession(
            String id,
            String project,
            SessionState state,
            SessionState desired,
            long epoch,
            @Nullable String node,
            String template,
            String size) {

        static OperatorSession of(SessionEntity row) {
            return new OperatorSession(
                    row.id,
                    row.projectId,
                    row.state,
                    row.desired,
                    row.epoch,
                    row.nodeId,
                    row.templateName,
                    row.size);
        }
    }

    /** A page of them. */
    @Schema(name = "OperatorSessionList")
    public record OperatorSessionList(List<OperatorSession> sessions, @Nullable String cursor) {}

    @GET
    @Operation(summary = "Every project's sessions, by id")
    public OperatorSessionList list(
            @QueryParam("limit") @Nullable String limit,
            @QueryParam("cursor") @Nullable String cursor) {
        int max = Requests.limit(limit);
        String after = cursor == null ? null : Requests.session(cursor).value();
        List<OperatorSession> page =
                sessions.ofAllProjects(after, max).stream().map(OperatorSession::of).toList();
        return new OperatorSessionList(page, page.size() == max ? page.getLast().id() : null);
    }

    @POST
    @Path("{id}/{command:(?:pause|resume|suspend)}")
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary = "Pause, resume or suspend a session of any project and wait until it is done")
    public Response command(
            @PathParam("id") String id,
            @PathParam("command") String name,
            @QueryParam("wait") @Nullable String waitSeconds) {
        Duration wait = Requests.wait(waitSeconds);
        SessionId session = Requests.session(id);
        String project =
                sessions.findByIdOptional(session.value())
                        .map(row -> row.projectId)
                        .orElseThrow(() ->
                                new SpaceException(
                                        ErrorCode.NOT_FOUND, "there is no session " + session));
        var requested =
                commands.command(
                        project,
                        session,
                        Command.valueOf(name.toUpperCase(Locale.ROOT)),
                        CommandArguments.NONE,
                        ACTOR,
                        null,
                        wait);
        return answers.of(requested, project, 200, wait, null);
    }
}
