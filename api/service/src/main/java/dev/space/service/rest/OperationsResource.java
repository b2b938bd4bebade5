package dev.space.service.rest;

import dev.space.contract.session.InFlight;
import dev.space.model.ErrorCode;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.SpaceException;
import dev.space.service.auth.Caller;
import dev.space.service.command.OperationWaiter;
import dev.space.service.command.SessionWorkflows;
import dev.space.store.ForkStore;
import dev.space.store.OperationRow;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.time.Duration;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** One operation, by its id. */
@Path("/v1/operations")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Records")
@RunOnVirtualThread
public class OperationsResource {
    private static final Logger LOG = Logger.getLogger(OperationsResource.class);

    private final Caller caller;
    private final Answers answers;
    private final OperationWaiter waiter;
    private final SessionWorkflows workflows;
    private final ForkStore forks;

    @Inject
    public OperationsResource(
            Caller caller,
            Answers answers,
            OperationWaiter waiter,
            SessionWorkflows workflows,
            ForkStore forks) {
        this.caller = caller;
        this.answers = answers;
        this.waiter = waiter;
        this.workflows = workflows;
        this.forks = forks;
    }

    @GET
    @Path("{id}")
    @Operation(summary = "One operation; with wait, when it has ended or the time is over")
    public OperationView operation(
            @PathParam("id") String id, @QueryParam("wait") @Nullable String waitSeconds) {
        Duration wait = waitSeconds == null ? Duration.ZERO : Requests.wait(waitSeconds);
        OperationRow row =
                waiter.await(Requests.operation(id), wait)
                        .orElseThrow(() ->
                                new SpaceException(
                                        ErrorCode.NOT_FOUND, "there is no operation " + id));
        answers.session(caller.project(), row.session());
        OperationView view = OperationView.of(row, step(row));
        return row.kind() == OperationKind.FORK
                ? view.with(forks.children(row.id()).stream().map(ForkView.Child::of).toList())
                : view;
    }

    /** The step in flight, as the workflow tells it; absent when it cannot be asked. */
    private @Nullable String step(OperationRow row) {
        if (row.state() != OperationState.ACCEPTED) {
            return null;
        }
        try {
            InFlight inFlight = workflows.record(row.session()).inFlight();
            return inFlight != null && inFlight.operation().equals(row.id())
                    ? inFlight.step()
                    : null;
        } catch (RuntimeException unreachable) {
            LOG.debugf("no step of %s: %s", row.id(), unreachable);
            return null;
        }
    }
}
