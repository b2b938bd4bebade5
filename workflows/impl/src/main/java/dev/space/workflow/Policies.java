package dev.space.workflow;

import dev.space.contract.session.DeadlinePolicy;
import dev.space.contract.session.PolicyAction;
import dev.space.contract.session.Reason;
import dev.space.contract.session.RecoveryPolicy;
import dev.space.contract.session.SessionRecord;
import dev.space.contract.session.SessionStart;
import dev.space.contract.session.VmExit;
import dev.space.model.ErrorCode;
import dev.space.model.Ids;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.ReasonCode;
import dev.space.model.SessionEvent;
import dev.space.model.SessionState;
import dev.space.model.lifecycle.EventEffect;
import dev.space.model.lifecycle.LifecycleTable;
import io.temporal.workflow.Workflow;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Takes events, asks the table, and starts what follows from them by itself. */
final class Policies {

    /** Events that can be held; when more arrive, the oldest have long been overtaken. */
    static final int HELD_MAX = 64;

    private static final LifecycleTable TABLE = LifecycleTable.STANDARD;

    private final SessionStart session;
    private final Desk desk;
    private final OperationContext.RecordHolder holder;
    private final Deque<Incoming> held = new ArrayDeque<>();

    Policies(SessionStart session, Desk desk, OperationContext.RecordHolder holder) {
        this.session = session;
        this.desk = desk;
        this.holder = holder;
    }

    boolean somethingHeld() {
        return !held.isEmpty();
    }

    /** In a signal handler: what must happen at once happens, the rest is judged by the loop. */
    void arrived(Incoming event) {
        Operation operation = desk.inFlight();
        if (operation == null) {
            hold(event);
            return;
        }
        EventEffect effect = TABLE.decide(desk.situation(), event.kind());
        boolean here = event.concerns(holder.record());
        switch (effect) {
            case HOLD -> {
                hold(event); // perhaps about the VM that is being started
                boolean urgent =
                        event.kind() == SessionEvent.VM_EXITED
                                || event.kind() == SessionEvent.KEY_REVOKED;
                if (here && urgent && operation.kind == OperationKind.CHECKPOINT) {
                    operation.cancelTransfer(null); // what is stored of it can wait, it cannot
                }
            }
            case END_OPERATION -> {
                if (here) {
                    hold(event);
                    operation.loseNode();
                }
            }
            case RETRY -> away(here, true);
            case NODE_BACK -> away(here, false);
            default -> {}
        }
    }

    private void hold(Incoming event) {
        if (held.contains(event)) {
            return; // a report that was sent twice
        }
        if (held.size() >= HELD_MAX) {
            held.removeFirst();
        }
        held.add(event);
    }

    private void away(boolean here, boolean away) {
        if (here) {
            holder.become(holder.record().withNodeAway(away));
        }
    }

    /** Judges one held event on the stable state; false when none is held. */
    boolean judgeNext() {
        Incoming event = held.poll();
        if (event == null) {
            return false;
        }
        if (!event.concerns(holder.record())) {
            return true;
        }
        switch (TABLE.decide(desk.situation(), event.kind())) {
            case RECOVER -> recover(((Incoming.Exit) event).report());
            case NODE_AWAY -> away(true, true);
            case NODE_BACK -> away(true, false);
            case NODE_LOST, STORED_NODE_LOST -> lose();
            case PAUSE -> {
                if (event instanceof Incoming.Idle idle) {
                    idle(idle, OperationKind.PAUSE);
                } else {
                    nodeFull();
                }
            }
            case SUSPEND -> idle((Incoming.Idle) event, OperationKind.SUSPEND);
            case POLICY, DESTROY_BY_POLICY -> deadline();
            case REVOKE -> revoke();
            case DISCARD -> automatic(OperationKind.DESTROY, platform("discarded"), null);
            case IGNORE -> ignored(event.kind());
            default -> {}
        }
        Operation begun = desk.inFlight();
        if (begun != null) {
            begun.because = event;
        }
        return true;
    }

    private void ignored(SessionEvent kind) {
        if (kind == SessionEvent.NODE_DECLARED_LOST) {
            holder.become(holder.record().withNodeLost());
        }
        if (kind == SessionEvent.DEADLINE) {
            holder.become(holder.record().withDeadline(null));
        }
    }

    private void recover(VmExit exit) {
        SessionRecord record = holder.record();
        RecoveryPolicy policy =
                session.recovery() == null ? RecoveryPolicy.DEFAULT : session.recovery();
        long now = Workflow.currentTimeMillis();
        List<Long> recent = new ArrayList<>(record.recoveries());
        recent.removeIf(at -> at <= now - policy.windowMillis());
        Operation.GiveUp giveUp = null;
        if (recent.size() >= policy.max()) {
            giveUp =
                    new Operation.GiveUp(
                            ErrorCode.LIMIT_EXCEEDED,
                            "the sandbox ended ("
                                    + exit.reason()
                                    + ") and was brought back "
                                    + recent.size()
                                    + " times before; recover or destroy the session");
        } else {
            recent.add(now);
        }
        Reason reason = new Reason(exit.reason(), exit.detail(), now);
        holder.become(record.withRecoveries(recent).withState(SessionState.RUNNING, null, reason));
        automatic(OperationKind.RECOVER, reason, giveUp);
    }

    /** What is stored is what is left; a paused session that stands on it is suspended. */
    private void lose() {
        SessionRecord record = holder.record();
        String node = record.node();
        Reason reason =
                new Reason(
                        ReasonCode.NODE_LOST,
                        "node " + node + " was declared lost",
                        Workflow.currentTimeMillis());
        if (record.state() == SessionState.PAUSED && record.standsOnDurable()) {
            automatic(OperationKind.SUSPEND, reason, null);
            return;
        }
        boolean runs = record.state() == SessionState.RUNNING;
        SessionState from =
                record.state() == SessionState.RUNNING ? SessionState.RUNNING : SessionState.FAILED;
        holder.become(record.withNodeLost().withState(from, null, reason));
        Operation.GiveUp nothingLeft =
                new Operation.GiveUp(
                        ErrorCode.NODE_LOST,
                        "node " + node + " was declared lost and no durable snapshot is left");
        boolean stored = runs && record.durable() != null;
        automatic(OperationKind.RECOVER, reason, stored ? null : nothingLeft);
    }

    /** First paused; and suspended when it is idle even then, if the policy goes that far. */
    private void idle(Incoming.Idle event, OperationKind next) {
        PolicyAction told = event.report().action();
        PolicyAction action = told == null ? session.idle() : told;
        if (action == null || (next == OperationKind.SUSPEND && action == PolicyAction.PAUSE)) {
            return;
        }
        Reason reason = new Reason(ReasonCode.IDLE, "idle", Workflow.currentTimeMillis());
        OperationKind kind = action == PolicyAction.SUSPEND ? next : kindOf(action);
        automatic(kind, reason, null);
    }

    /** What runs writes; a paused one goes on when there is space, and loses nothing. */
    private void nodeFull() {
        Reason reason =
                new Reason(
                        ReasonCode.NODE_DISK_FULL,
                        "the disk of node " + holder.record().node() + " was nearly full",
                        Workflow.currentTimeMillis());
        automatic(OperationKind.PAUSE, reason, null);
    }

    /** Its VM is ended and its disk kept; the row is asked whether the key is revoked still. */
    private void revoke() {
        String detail = "the organisation's key is revoked; give it back, then recover the session";
        Reason reason = new Reason(ReasonCode.KEY_REVOKED, detail, Workflow.currentTimeMillis());
        automatic(
                OperationKind.RECOVER, reason, new Operation.GiveUp(ErrorCode.KEY_REVOKED, detail));
    }

    private void deadline() {
        DeadlinePolicy due = holder.record().deadline();
        holder.become(holder.record().withDeadline(null));
        boolean running = holder.record().state() == SessionState.RUNNING;
        if (due == null || (due.action() != PolicyAction.DESTROY && !running)) {
            return;
        }
        Reason reason = new Reason(ReasonCode.DEADLINE, "deadline", Workflow.currentTimeMillis());
        Request request = new Request(newOperation(), null, null, true, true, reason);
        desk.begin(new Operation(request, kindOf(due.action()), null, null));
    }

    private static OperationKind kindOf(PolicyAction action) {
        return switch (action) {
            case PAUSE -> OperationKind.PAUSE;
            case SUSPEND -> OperationKind.SUSPEND;
            case DESTROY -> OperationKind.DESTROY;
        };
    }

    private void automatic(OperationKind kind, Reason reason, Operation.@Nullable GiveUp giveUp) {
        Request request = new Request(newOperation(), null, null, true, false, reason);
        desk.begin(new Operation(request, kind, null, giveUp));
    }

    private static Reason platform(String text) {
        return new Reason(ReasonCode.PLATFORM, text, Workflow.currentTimeMillis());
    }

    private static OperationId newOperation() {
        byte[] random = new byte[Ids.RANDOM_BYTES];
        Workflow.newRandom().nextBytes(random);
        return new OperationId(Ids.text(OperationId.PREFIX, random));
    }
}
