package dev.space.service.command;

import dev.space.contract.TaskQueues;
import dev.space.contract.session.CommandAnswer;
import dev.space.contract.session.DeadlinePolicy;
import dev.space.contract.session.PolicyAction;
import dev.space.contract.session.SessionRecord;
import dev.space.contract.session.SessionStart;
import dev.space.contract.session.SubmitCommand;
import dev.space.contract.session.VmExit;
import dev.space.model.Limits;
import dev.space.model.OrganisationId;
import dev.space.model.ProjectId;
import dev.space.model.SessionId;
import dev.space.model.Size;
import dev.space.store.SessionRow;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.enums.v1.WorkflowIdConflictPolicy;
import io.temporal.api.enums.v1.WorkflowIdReusePolicy;
import io.temporal.client.UpdateOptions;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowExecutionAlreadyStarted;
import io.temporal.client.WorkflowNotFoundException;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.client.WorkflowUpdateStage;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The session workflow as the API calls it. The workflow's id is the session's. */
@Singleton
public class SessionWorkflows {
    private static final String TYPE = "SessionWorkflow";

    private final WorkflowClient client;

    @Inject
    public SessionWorkflows(WorkflowClient client) {
        this.client = client;
    }

    /** Starts the workflow and answers what became of the creation. */
    public CommandAnswer create(SessionStart start, SubmitCommand command) {
        return updateWithStart("create", start, command);
    }

    /** Starts the workflow where it has no run yet; the tombstone was written before. */
    public CommandAnswer destroy(SessionStart start, SubmitCommand command) {
        return updateWithStart("destroy", start, command);
    }

    private CommandAnswer updateWithStart(
            String update, SessionStart start, SubmitCommand command) {
        WorkflowStub stub =
                client.newUntypedWorkflowStub(
                        TYPE,
                        options(
                                        start,
                                        WorkflowIdReusePolicy
                                                .WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
                                .setWorkflowIdConflictPolicy(
                                        WorkflowIdConflictPolicy
                                                .WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING)
                                .build());
        return stub.executeUpdateWithStart(
                update(update, command), new Object[] {command, start}, new Object[] {start});
    }

    /** Starts the workflow of a session that nobody has asked for yet. */
    void startAhead(SessionId session) {
        SessionStart start = SessionStart.ahead(session);
        var _ =
                client.newUntypedWorkflowStub(
                                TYPE,
                                options(
                                                start,
                                                WorkflowIdReusePolicy
                                                        .WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
                                        .build())
                        .start(start);
    }

    /** Ends a workflow that was started ahead and is not needed. */
    void endAhead(SessionId session) {
        client.newUntypedWorkflowStub(session.value()).terminate("its session was never asked for");
    }

    /** Sends a command to the running workflow. */
    public CommandAnswer submit(SessionId session, SubmitCommand command) {
        return client.newUntypedWorkflowStub(session.value())
                .startUpdate(update("submit", command), command)
                .getResult();
    }

    private static UpdateOptions<CommandAnswer> update(String name, SubmitCommand command) {
        return UpdateOptions.newBuilder(CommandAnswer.class)
                .setUpdateName(name)
                .setUpdateId(command.operation().value())
                .setWaitForStage(WorkflowUpdateStage.COMPLETED)
                .build();
    }

    /** Tells the workflow that its VM ended; a workflow that is gone needs no telling. */
    public void vmExited(SessionId session, VmExit exit) {
        signal(session, "vmExited", exit);
    }

    /** Sends a signal; a workflow that is gone is skipped. */
    public void signal(SessionId session, String name, @Nullable Object argument) {
        try {
            client.newUntypedWorkflowStub(session.value()).signal(name, argument);
        } catch (WorkflowNotFoundException gone) {
            return;
        }
    }

    /** What the workflow knows; used to show the step in flight. */
    public SessionRecord record(SessionId session) {
        return client.newUntypedWorkflowStub(session.value()).query("record", SessionRecord.class);
    }

    /** True when the session's workflow runs. */
    public boolean isRunning(SessionId session) {
        try {
            return client.newUntypedWorkflowStub(session.value()).describe().getStatus()
                    == WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING;
        } catch (WorkflowNotFoundException none) {
            return false;
        } catch (StatusRuntimeException failure) {
            if (failure.getStatus().getCode() == Status.Code.NOT_FOUND) {
                return false;
            }
            throw failure;
        }
    }

    /**
     * Starts the workflow of an existing session again, from its rows: the only use of
     * ALLOW_DUPLICATE (rule 13). Harmless when it runs.
     */
    public void revive(SessionRow row) {
        SessionStart start = start(row, true);
        try {
            client.newUntypedWorkflowStub(
                            TYPE,
                            options(
                                            start,
                                            WorkflowIdReusePolicy
                                                    .WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE)
                                    .build())
                    .start(start);
        } catch (WorkflowExecutionAlreadyStarted runs) {
            return;
        }
    }

    private static WorkflowOptions.Builder options(
            SessionStart start, WorkflowIdReusePolicy reuse) {
        return WorkflowOptions.newBuilder()
                .setTaskQueue(TaskQueues.CONTROL)
                .setWorkflowId(start.session().value())
                .setWorkflowIdReusePolicy(reuse);
    }

    /** What the workflow of this row starts with. */
    public static SessionStart start(SessionRow row, boolean restored) {
        return new SessionStart(
                row.id(),
                new OrganisationId(row.organisation()),
                new ProjectId(row.project()),
                row.templateName(),
                row.templateDigest(),
                Size.fromWireName(row.size()).orElseThrow(),
                Limits.PROCESSES_DEFAULT_MAX,
                deadline(row),
                row.idleAction() == null ? null : PolicyAction.valueOf(row.idleAction()),
                null,
                restored,
                null,
                false);
    }

    private static @Nullable DeadlinePolicy deadline(SessionRow row) {
        return Optional.ofNullable(row.deadlineAt())
                .map(at ->
                        new DeadlinePolicy(
                                at.toEpochMilli(),
                                PolicyAction.valueOf(String.valueOf(row.deadlineAction()))))
                .orElse(null);
    }
}
