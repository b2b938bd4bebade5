package dev.space.model.lifecycle;

import static dev.space.model.lifecycle.Cell.already;
import static dev.space.model.lifecycle.Cell.cancel;
import static dev.space.model.lifecycle.Cell.go;
import static dev.space.model.lifecycle.Cell.join;
import static dev.space.model.lifecycle.Cell.refuse;
import static dev.space.model.lifecycle.Cell.supersede;
import static dev.space.model.lifecycle.Cell.waits;
import static dev.space.model.lifecycle.EventEffect.DESTROY_BY_POLICY;
import static dev.space.model.lifecycle.EventEffect.DISCARD;
import static dev.space.model.lifecycle.EventEffect.END_OPERATION;
import static dev.space.model.lifecycle.EventEffect.FENCED;
import static dev.space.model.lifecycle.EventEffect.HOLD;
import static dev.space.model.lifecycle.EventEffect.IGNORE;
import static dev.space.model.lifecycle.EventEffect.NODE_AWAY;
import static dev.space.model.lifecycle.EventEffect.NODE_BACK;
import static dev.space.model.lifecycle.EventEffect.NODE_LOST;
import static dev.space.model.lifecycle.EventEffect.NOTHING_NEW;
import static dev.space.model.lifecycle.EventEffect.PAUSE;
import static dev.space.model.lifecycle.EventEffect.POLICY;
import static dev.space.model.lifecycle.EventEffect.RECOVER;
import static dev.space.model.lifecycle.EventEffect.RETRY;
import static dev.space.model.lifecycle.EventEffect.REVOKE;
import static dev.space.model.lifecycle.EventEffect.STORED_NODE_LOST;
import static dev.space.model.lifecycle.EventEffect.SUSPEND;
import static dev.space.model.lifecycle.Fact.AUTO_RESUME;
import static dev.space.model.lifecycle.Fact.PUBLISHED;
import static dev.space.model.lifecycle.Fact.SAME_KEY;
import static dev.space.model.lifecycle.Fact.SNAPSHOT_LEFT;
import static dev.space.model.lifecycle.Fact.VM_RUNS;

import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.OperationKind;
import dev.space.model.SessionEvent;
import dev.space.model.SessionState;
import dev.space.model.lifecycle.Decision.Already;
import dev.space.model.lifecycle.Decision.Go;
import dev.space.model.lifecycle.Decision.Join;
import dev.space.model.lifecycle.Decision.Wait;
import java.util.Arrays;
import java.util.Set;

/**
 * The rows of the product's table. Columns of commands: pause, resume, checkpoint, fork, rollback,
 * suspend, restore, recover, data plane, destroy. Columns of events: VM exited, lease lost,
 * declared lost, back with the current epoch, back with an old one, idle, node full, deadline, key
 * revoked, key service unreachable.
 */
final class StandardRows {

    private StandardRows() {}

    static LifecycleTable build() {
        LifecycleTable.Builder table = LifecycleTable.builder();
        operations(table);
        states(table);
        inFlight(table);
        events(table);
        return table.build();
    }

    private static void operations(LifecycleTable.Builder t) {
        Set<SessionState> any =
                Set.of(
                        SessionState.NEW,
                        SessionState.WARM,
                        SessionState.RUNNING,
                        SessionState.PAUSED,
                        SessionState.SUSPENDED,
                        SessionState.FAILED);
        Set<SessionState> source =
                Set.of(
                        SessionState.RUNNING,
                        SessionState.PAUSED,
                        SessionState.SUSPENDED,
                        SessionState.FAILED);
        Set<SessionState> birth = Set.of(SessionState.NEW, SessionState.WARM);
        SessionState running = SessionState.RUNNING;
        SessionState paused = SessionState.PAUSED;
        SessionState suspended = SessionState.SUSPENDED;
        SessionState failed = SessionState.FAILED;
        SessionState destroyed = SessionState.DESTROYED;
        t.operation(
                OperationKind.PREPARE,
                Set.of(SessionState.NEW),
                SessionState.WARM,
                destroyed,
                true,
                "");
        t.operation(
                OperationKind.CREATE, Set.of(SessionState.NEW), running, destroyed, true, "thaw");
        t.operation(OperationKind.BIND, birth, running, destroyed, true, "thaw");
        t.operation(OperationKind.PAUSE, Set.of(running), paused, null, false, "publish");
        t.operation(OperationKind.RESUME, Set.of(paused), running, null, true, "thaw");
        t.operation(
                OperationKind.CHECKPOINT,
                Set.of(running, paused, suspended),
                null,
                null,
                false,
                "");
        t.operation(OperationKind.FORK, source, null, null, false, "");
        // Once its safety snapshot is published, a rollback that fails is a pause.
        t.operation(OperationKind.ROLLBACK, source, running, null, true, "thaw");
        t.operation(
                OperationKind.SUSPEND,
                Set.of(running, paused),
                suspended,
                paused,
                false,
                "publish");
        t.operation(OperationKind.RESTORE, Set.of(suspended), running, null, true, "thaw");
        t.operation(OperationKind.RECOVER, Set.of(running, failed), running, failed, true, "thaw");
        t.operation(OperationKind.DESTROY, any, destroyed, destroyed, false, "acceptance");
    }

    private static void states(LifecycleTable.Builder t) {
        Cell notReady = refuse(ErrorCode.NOT_READY);
        Cell notFailed = refuse(ErrorCode.NOT_FAILED);
        Cell failed = refuse(ErrorCode.SESSION_FAILED);
        Cell pause = go(OperationKind.PAUSE);
        Cell resume = go(OperationKind.RESUME);
        Cell checkpoint = go(OperationKind.CHECKPOINT);
        Cell fork = go(OperationKind.FORK);
        Cell rollback = go(OperationKind.ROLLBACK);
        Cell suspend = go(OperationKind.SUSPEND);
        Cell restore = go(OperationKind.RESTORE);
        Cell recover = go(OperationKind.RECOVER);
        Cell destroy = go(OperationKind.DESTROY);
        Cell same = already();
        t.state(
                SessionState.NEW,
                notReady,
                waits(),
                notReady,
                notReady,
                notReady,
                notReady,
                notReady,
                notReady,
                waits(),
                destroy);
        t.state(SessionState.WARM, tenantsSeeNothing(destroy));
        t.state(
                SessionState.RUNNING,
                pause,
                same,
                checkpoint,
                fork,
                rollback,
                suspend,
                same,
                notFailed,
                same,
                destroy);
        t.state(
                SessionState.PAUSED,
                same,
                resume,
                checkpoint,
                fork,
                rollback,
                suspend,
                resume,
                notFailed,
                refuse(ErrorCode.SESSION_PAUSED).when(AUTO_RESUME, new Go(OperationKind.RESUME)),
                destroy);
        t.state(
                SessionState.SUSPENDED,
                same,
                restore,
                checkpoint,
                fork,
                rollback,
                same,
                restore,
                notFailed,
                refuse(ErrorCode.SESSION_SUSPENDED)
                        .when(AUTO_RESUME, new Go(OperationKind.RESTORE)),
                destroy);
        t.state(
                SessionState.FAILED,
                failed,
                recover,
                failed,
                failed.when(SNAPSHOT_LEFT, new Go(OperationKind.FORK)),
                rollback,
                failed,
                recover,
                recover,
                failed,
                destroy);
        t.state(SessionState.DESTROYED, goneBut(same));
    }

    private static void inFlight(LifecycleTable.Builder t) {
        Cell w = waits();
        Cell j = join();
        Cell s = supersede();
        Cell same = already();
        Cell busy = refuse(ErrorCode.OPERATION_IN_PROGRESS);
        Cell keyed = w.when(SAME_KEY, new Join());
        Cell published = w.when(PUBLISHED, new Already());
        Cell pausing = refuse(ErrorCode.SESSION_PAUSED).when(AUTO_RESUME, new Wait());
        Cell serve = w.when(VM_RUNS, new Already());
        // without auto-resume the answer is that of the state the session is going to
        Cell suspending =
                refuse(ErrorCode.SESSION_SUSPENDED).when(AUTO_RESUME, new Decision.Cancel());
        t.inFlight(OperationKind.PREPARE, tenantsSeeNothing(s));
        t.inFlight(OperationKind.CREATE, w, j, w, w, busy, w, j, w, w, s);
        t.inFlight(OperationKind.BIND, w, j, w, w, busy, w, j, w, w, s);
        t.inFlight(OperationKind.PAUSE, j, w, w, w, w, w, w, w, pausing, s);
        t.inFlight(OperationKind.RESUME, w, j, w, w, w, w, j, w, w, s);
        t.inFlight(
                OperationKind.CHECKPOINT,
                cancel(),
                same,
                keyed,
                w,
                cancel(),
                cancel(),
                same,
                w,
                serve,
                s);
        t.inFlight(OperationKind.FORK, w, w, w, keyed, w, w, w, w, serve, s);
        t.inFlight(
                OperationKind.ROLLBACK, w, j, w, w, busy.when(SAME_KEY, new Join()), w, j, j, w, s);
        t.inFlight(
                OperationKind.SUSPEND,
                published,
                cancel(),
                w,
                w,
                cancel(),
                j,
                cancel(),
                w,
                suspending,
                s);
        t.inFlight(OperationKind.RESTORE, w, j, w, w, busy, cancel(), j, j, w, s);
        t.inFlight(OperationKind.RECOVER, w, j, w, w, w, w, j, j, w, s);
        t.inFlight(OperationKind.DESTROY, goneBut(j));
    }

    private static void events(LifecycleTable.Builder t) {
        t.events(
                SessionState.NEW,
                DISCARD,
                IGNORE,
                DISCARD,
                IGNORE,
                DISCARD,
                IGNORE,
                IGNORE,
                DESTROY_BY_POLICY,
                DISCARD,
                NOTHING_NEW);
        t.events(
                SessionState.WARM,
                DISCARD,
                NODE_AWAY,
                DISCARD,
                NODE_BACK,
                DISCARD,
                IGNORE,
                IGNORE,
                IGNORE,
                DISCARD,
                NOTHING_NEW);
        t.events(
                SessionState.RUNNING,
                RECOVER,
                NODE_AWAY,
                NODE_LOST,
                NODE_BACK,
                FENCED,
                PAUSE,
                PAUSE,
                POLICY,
                REVOKE,
                NOTHING_NEW);
        t.events(
                SessionState.PAUSED,
                IGNORE,
                NODE_AWAY,
                STORED_NODE_LOST,
                NODE_BACK,
                FENCED,
                SUSPEND,
                IGNORE,
                DESTROY_BY_POLICY,
                IGNORE,
                IGNORE);
        t.events(
                SessionState.SUSPENDED,
                IGNORE,
                IGNORE,
                IGNORE,
                IGNORE,
                FENCED,
                IGNORE,
                IGNORE,
                DESTROY_BY_POLICY,
                IGNORE,
                IGNORE);
        t.events(
                SessionState.FAILED,
                IGNORE,
                IGNORE,
                IGNORE,
                IGNORE,
                FENCED,
                IGNORE,
                IGNORE,
                DESTROY_BY_POLICY,
                IGNORE,
                IGNORE);
        EventEffect[] nothing = new EventEffect[SessionEvent.values().length];
        Arrays.fill(nothing, IGNORE);
        t.events(SessionState.DESTROYED, nothing);
        for (OperationKind kind : OperationKind.values()) {
            if (kind == OperationKind.DESTROY) {
                t.events(
                        kind, IGNORE, RETRY, IGNORE, NODE_BACK, FENCED, IGNORE, IGNORE, IGNORE,
                        IGNORE, IGNORE);
            } else {
                t.events(
                        kind,
                        HOLD,
                        RETRY,
                        END_OPERATION,
                        NODE_BACK,
                        FENCED,
                        HOLD,
                        HOLD,
                        HOLD,
                        HOLD,
                        NOTHING_NEW);
            }
        }
    }

    /** A warm session has no owner: to tenants it does not exist, and only a discard ends it. */
    private static Cell[] tenantsSeeNothing(Cell destroy) {
        return rowOf(refuse(ErrorCode.NOT_FOUND), destroy);
    }

    private static Cell[] goneBut(Cell destroy) {
        return rowOf(refuse(ErrorCode.GONE), destroy);
    }

    private static Cell[] rowOf(Cell all, Cell destroy) {
        return Arrays.stream(Command.values())
                .map(c -> c == Command.DESTROY ? destroy : all)
                .toArray(Cell[]::new);
    }
}
