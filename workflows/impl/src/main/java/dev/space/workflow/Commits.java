package dev.space.workflow;

import dev.space.contract.control.CommitAnswer;
import dev.space.contract.control.CommitOperation;
import dev.space.contract.session.Reason;
import dev.space.contract.session.SessionRecord;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.ReasonCode;
import dev.space.model.SessionState;
import dev.space.model.lifecycle.LifecycleTable;
import dev.space.model.lifecycle.OperationRow;
import io.temporal.workflow.Workflow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The last step of every operation: one write that says how it ended and what the session is. */
final class Commits {

    private Commits() {}

    static void done(OperationContext c) {
        OperationRow row = LifecycleTable.STANDARD.operation(c.operation.kind);
        SessionState to = row.to() == null ? c.record().state() : row.to();
        boolean changes = row.to() != null;
        Reason reason = changes ? c.operation.request.reason() : c.record().reason();
        write(c, OperationState.DONE, null, "", to, reason);
    }

    static void failed(OperationContext c, StepFailure why) {
        OperationRow row = LifecycleTable.STANDARD.operation(c.operation.kind);
        SessionState asTheRowSays = row.failed() == null ? c.record().state() : row.failed();
        SessionState to = c.failsTo() == null ? asTheRowSays : c.failsTo();
        boolean asStated = row.failed() != null && c.failsTo() == null;
        boolean changes = asStated || to != c.record().state();
        Reason reason = changes ? reasonOf(why) : c.record().reason();
        if (to != SessionState.RUNNING) {
            c.vmIs(null);
        }
        write(c, why.outcome(), why.code(), why.detail(), to, reason);
    }

    private static Reason reasonOf(StepFailure why) {
        ReasonCode code =
                switch (why.code()) {
                    case NODE_LOST -> ReasonCode.NODE_LOST;
                    case KEY_REVOKED -> ReasonCode.KEY_REVOKED;
                    case LIMIT_EXCEEDED -> ReasonCode.CRASH_LOOP;
                    default -> ReasonCode.START_FAILED;
                };
        return new Reason(code, why.detail(), Workflow.currentTimeMillis());
    }

    private static void write(
            OperationContext c,
            OperationState outcome,
            @Nullable ErrorCode error,
            String detail,
            SessionState to,
            Reason reason) {
        var _ = c.ref("commit", c.nextPlace(), 1);
        Fence vm = to == SessionState.RUNNING ? c.vm() : null;
        boolean done = outcome == OperationState.DONE;
        boolean onANode = to != SessionState.SUSPENDED;
        CommitOperation request =
                new CommitOperation(
                        c.session.session(),
                        c.operation.request.operation(),
                        c.fence(),
                        outcome,
                        error,
                        detail,
                        to,
                        onANode ? c.record().node() : null,
                        vm,
                        snapshots(c),
                        c.operation.request.name(),
                        c.operation.writeJoined(),
                        List.copyOf(c.owed),
                        reason,
                        done ? c.durable : null,
                        done ? c.startMicros : null);
        CommitAnswer answer = StepCalls.database(() -> Calls.control().commit(request));
        if (!answer.written()) {
            throw new Overtaken(answer.tombstone());
        }
        SessionRecord next = c.record().withState(to, vm, reason);
        for (SnapshotRef snapshot : c.made) {
            next = next.withSnapshot(snapshot);
        }
        if (done) {
            next = wentBack(c, next);
        }
        if (done && c.durable != null) {
            next = next.withDurable(c.durable);
        }
        c.become(onANode ? next : next.withoutNode());
    }

    /** After a ROLLBACK, or a RECOVER from what was stored, the present goes on from there. */
    private static SessionRecord wentBack(OperationContext c, SessionRecord record) {
        SnapshotRef target = c.inFlight().target();
        boolean stored = c.operation.kind == OperationKind.RECOVER && c.durable != null;
        if (stored) {
            return record.rolledBackTo(c.made.getLast());
        }
        boolean rollback = c.operation.kind == OperationKind.ROLLBACK;
        return rollback && target != null ? record.rolledBackTo(whereItIsNow(c, target)) : record;
    }

    /** One that was fetched is on the session's node. */
    private static SnapshotRef whereItIsNow(OperationContext c, SnapshotRef target) {
        return c.made.stream()
                .filter(made -> made.id().equals(target.id()))
                .findFirst()
                .orElse(target);
    }

    /** A checkpoint of a session without a VM names the snapshot that it stands on. */
    private static List<SnapshotRef> snapshots(OperationContext c) {
        List<SnapshotRef> all = new ArrayList<>(c.made);
        SnapshotRef newest = c.record().newest();
        boolean pins =
                c.operation.kind == OperationKind.CHECKPOINT
                        && c.record().state() != SessionState.RUNNING;
        if (pins && newest != null) {
            all.add(newest);
        }
        return all;
    }
}
