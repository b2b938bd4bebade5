package dev.space.workflow;

import dev.space.contract.control.AcceptAnswer;
import dev.space.contract.control.AcceptOperation;
import dev.space.contract.session.InFlight;
import dev.space.contract.session.SessionStart;
import dev.space.model.ErrorCode;
import dev.space.model.OperationKind;
import io.temporal.failure.CanceledFailure;
import io.temporal.workflow.CancellationScope;
import io.temporal.workflow.Workflow;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Runs one operation from acceptance to its commit: the steps in order, on failure the undos back.
 */
final class OperationRunner {

    private final SessionStart session;
    private final OperationContext.RecordHolder holder;

    OperationRunner(SessionStart session, OperationContext.RecordHolder holder) {
        this.session = session;
        this.holder = holder;
    }

    /** Asks the row. This is never cut short: the workflow must know what the row knows. */
    AcceptAnswer accept(Operation operation) {
        AcceptOperation request =
                new AcceptOperation(
                        session.session(),
                        operation.request.operation(),
                        operation.kind,
                        operation.request.automatic(),
                        operation.request.onlyIfDeadlinePassed(),
                        operation.supersedes,
                        isPlaced(operation.kind),
                        operation.request.reason());
        Answered answered = new Answered();
        Workflow.newDetachedCancellationScope(() ->
                        answered.answer =
                                StepCalls.database(() -> Calls.control().acceptOperation(request)))
                .run();
        AcceptAnswer answer = answered.answer;
        if (answer == null) {
            throw new IllegalStateException("invariant: acceptance ended without an answer");
        }
        return answer;
    }

    /**
     * A stored session is on no node, and may go back from there; one whose node was lost goes on
     * from what is stored.
     */
    private boolean isPlaced(OperationKind kind) {
        return switch (kind) {
            case CREATE, RESTORE -> true;
            case ROLLBACK -> holder.record().node() == null;
            case RECOVER -> holder.record().node() == null && holder.record().durable() != null;
            default -> false;
        };
    }

    /** From here on the operation is in flight in the record too. */
    void begin(Operation operation, AcceptAnswer answer) {
        if (!answer.accepted()) {
            return;
        }
        holder.become(
                holder.record()
                        .withInFlight(
                                new InFlight(
                                        operation.request.operation(),
                                        operation.kind,
                                        answer.number(),
                                        answer.epoch(),
                                        0,
                                        "accepted",
                                        Workflow.currentTimeMillis(),
                                        answer.target(),
                                        answer.acceptLoss(),
                                        answer.origin(),
                                        answer.stored(),
                                        answer.durable())));
        ErrorCode error = answer.error();
        if (error != null) {
            operation.unplaced(error, answer.detail());
        }
        String node = answer.node();
        if (node != null) {
            holder.become(holder.record().withNode(node));
        }
    }

    /**
     * The steps and the commit.
     *
     * @return how it failed; null when it is done, or was superseded
     * @throws Overtaken when the row refused a write
     */
    @Nullable StepFailure run(Operation operation) {
        Ended ended = new Ended();
        CancellationScope scope =
                Workflow.newCancellationScope(() -> ended.failure = steps(operation));
        operation.runIn(scope);
        if (operation.supersededBy() != null) {
            return null;
        }
        try {
            scope.run();
        } catch (CanceledFailure e) {
            if (operation.supersededBy() == null) {
                throw e;
            }
        }
        return ended.failure;
    }

    private @Nullable StepFailure steps(Operation operation) {
        OperationContext context = new OperationContext(session, operation, holder);
        Deque<Step> begun = new ArrayDeque<>();
        try {
            for (Step step :
                    OperationSteps.of(
                            operation.kind,
                            holder.record(),
                            operation.giveUp != null,
                            context.inFlight())) {
                begun.push(step); // before the call: one that timed out may have had its effect
                step.action().accept(context);
            }
        } catch (StepFailure failure) {
            for (Step step : begun) {
                if (step.undo() instanceof Undo.By(String _, var action)) {
                    action.accept(context);
                }
            }
            Commits.failed(context, failure);
            return failure;
        }
        Commits.done(context);
        return null;
    }

    private static final class Answered {
        private @Nullable AcceptAnswer answer;
    }

    private static final class Ended {
        private @Nullable StepFailure failure;
    }
}
