package dev.space.service.rest;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.contract.session.DeadlinePolicy;
import dev.space.contract.session.PolicyAction;
import dev.space.model.SessionId;
import dev.space.service.auth.Caller;
import dev.space.service.command.SessionWorkflows;
import dev.space.store.PolicyRows;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.io.InputStream;
import java.time.Clock;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** What the platform does with a session by itself, changed while the session lives. */
@Path("/v1/sessions/{id}")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Sessions")
@RunOnVirtualThread
public class PoliciesResource {
    private final Caller caller;
    private final Answers answers;
    private final JsonBodies bodies;
    private final PolicyRows rows;
    private final SessionWorkflows workflows;
    private final Clock clock;

    @Inject
    public PoliciesResource(
            Caller caller,
            Answers answers,
            JsonBodies bodies,
            PolicyRows rows,
            SessionWorkflows workflows,
            Clock clock) {
        this.caller = caller;
        this.answers = answers;
        this.bodies = bodies;
        this.rows = rows;
        this.workflows = workflows;
        this.clock = clock;
    }

    /** What is not named stays as it is; a policy that is null ends. */
    @Schema(name = "ChangePolicies")
    public record ChangePolicies(
            @Schema(implementation = CreateSession.Idle.class, nullable = true)
                    @Nullable JsonNode idle,
            @Schema(implementation = CreateSession.DurabilityPolicy.class, nullable = true)
                    @Nullable JsonNode durability,
            @Schema(implementation = CreateSession.Deadline.class, nullable = true)
                    @Nullable JsonNode deadline,
            @Nullable Boolean autoResume) {}

    @PATCH
    @Consumes(MediaType.WILDCARD)
    @Operation(summary = "Change a session's policies; a policy that is null ends")
    @RequestBody(content = @Content(schema = @Schema(implementation = ChangePolicies.class)))
    public SessionView change(@PathParam("id") String id, InputStream body) {
        SessionId session = Requests.session(id);
        ChangePolicies wanted =
                bodies.read(body, ChangePolicies.class, "PATCH", session.value()).value();
        answers.session(caller.project(), session);
        PolicyRows.Change change = checked(wanted);
        rows.change(session, change, caller.actor());
        if (change.deadline()) {
            // When it is due its row is asked again; a signal that is lost is an error here.
            workflows.signal(session, "deadlineChanged", policy(change));
        }
        return answers.session(caller.project(), session);
    }

    private PolicyRows.Change checked(ChangePolicies wanted) {
        CreateSession.Idle idle = bodies.part("idle", wanted.idle(), CreateSession.Idle.class);
        CreateSession.DurabilityPolicy durability =
                bodies.part(
                        "durability", wanted.durability(), CreateSession.DurabilityPolicy.class);
        CreateSession.Deadline deadline =
                bodies.part("deadline", wanted.deadline(), CreateSession.Deadline.class);
        if (wanted.idle() == null
                && wanted.durability() == null
                && wanted.deadline() == null
                && wanted.autoResume() == null) {
            throw CreateSession.invalid("name idle, durability, deadline or autoResume");
        }
        return new PolicyRows.Change(
                wanted.idle() != null,
                idle == null ? null : idle.checkedSeconds(),
                idle == null ? null : idle.checkedAction(),
                wanted.durability() != null,
                durability == null ? null : durability.checkedSeconds(),
                wanted.deadline() != null,
                deadline == null ? null : deadline.at(clock),
                deadline == null ? null : deadline.checkedAction(),
                wanted.autoResume());
    }

    private static @Nullable DeadlinePolicy policy(PolicyRows.Change change) {
        return change.deadlineAt() == null || change.deadlineAction() == null
                ? null
                : new DeadlinePolicy(
                        change.deadlineAt().toEpochMilli(),
                        PolicyAction.valueOf(change.deadlineAction()));
    }
}
