package dev.space.testkit;

import dev.space.contract.control.CommitOperation;
import dev.space.contract.session.SessionRecord;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import dev.space.testkit.FakeStore.Operation;
import dev.space.testkit.FakeStore.Session;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What a FORK does to the fake's rows, as the product's store does it. */
final class FakeForks {

    private FakeForks() {}

    /** A fork of what does not run continues from what is there; the row keeps the choice. */
    static void choose(Session row, Operation fork, SessionRecord record) {
        if (fork.snapshot != null || row.state == SessionState.RUNNING) {
            return;
        }
        SnapshotRef newest = record.newest() == null ? record.preserved() : record.newest();
        fork.snapshot = newest == null ? null : newest.id();
    }

    /** A rollback or fork whose snapshot is not there is refused before anything is done. */
    static boolean goesNowhere(OperationKind kind, Session row, Operation operation) {
        boolean takesOne =
                kind == OperationKind.FORK
                        && operation.snapshot == null
                        && row.state == SessionState.RUNNING;
        boolean needsOne = kind == OperationKind.FORK || kind == OperationKind.ROLLBACK;
        return needsOne && !takesOne && FakeRecords.target(row, operation) == null;
    }

    /** The session that the CREATE of a fork's child starts from; null for everything else. */
    static @Nullable SessionId originOf(Session row, Operation operation) {
        Session origin = row.origin;
        return origin != null && operation.command == null && operation.snapshot != null
                ? origin.id
                : null;
    }

    static @Nullable SnapshotRef target(Session child, Operation create) {
        return Objects.requireNonNull(child.origin).snapshots.stream()
                .filter(s -> s.id().equals(create.snapshot))
                .findFirst()
                .orElse(null);
    }

    /** What starts from a snapshot is placed where that is, else, if it is stored, anywhere. */
    static @Nullable String place(Session row, Operation operation, List<String> placeable) {
        String any = placeable.isEmpty() ? null : placeable.getFirst();
        boolean from = originOf(row, operation) != null || operation.kind == OperationKind.ROLLBACK;
        if (!from) {
            return any;
        }
        SnapshotRef target = FakeRecords.target(row, operation);
        if (target != null && placeable.contains(target.node())) {
            return target.node();
        }
        return FakeRecords.stored(row, operation) == null ? null : any;
    }

    /** With the commit, so that a retry makes none twice. */
    static void makeChildren(
            Map<SessionId, Session> sessions,
            Map<OperationId, Operation> operations,
            Operation fork,
            CommitOperation commit) {
        SnapshotId chosen = fork.snapshot;
        SnapshotId from = chosen == null ? commit.snapshots().getLast().id() : chosen;
        fork.children.forEach((id, create) -> {
            if (sessions.containsKey(id)) {
                throw new IllegalStateException("child " + id + " is made twice");
            }
            Session child = new Session(id);
            child.origin = sessions.get(commit.session());
            sessions.put(id, child);
            Operation row = new Operation(id, null);
            row.snapshot = from;
            operations.put(create, row);
        });
    }
}
