package dev.space.testkit;

import dev.space.contract.control.AcceptAnswer;
import dev.space.contract.control.ControlActivities.LoadedSession;
import dev.space.contract.session.DurableRef;
import dev.space.contract.session.InFlight;
import dev.space.contract.session.SessionRecord;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;
import dev.space.testkit.FakeStore.Operation;
import dev.space.testkit.FakeStore.Session;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Rebuilds a session's record from the fake's rows, as the product's loader does. */
final class FakeRecords {

    private FakeRecords() {}

    static LoadedSession loaded(Session row, Map<OperationId, Operation> operations) {
        InFlight begun = inFlight(row, operations);
        String name =
                begun == null
                        ? null
                        : Objects.requireNonNull(operations.get(begun.operation())).name;
        return new LoadedSession(record(row, operations, begun), row.tombstone, name);
    }

    static @Nullable InFlight inFlight(Session row, Map<OperationId, Operation> operations) {
        for (Map.Entry<OperationId, Operation> entry : operations.entrySet()) {
            Operation o = entry.getValue();
            boolean open = o.state == OperationState.ACCEPTED && o.number == row.number;
            OperationKind kind = o.kind;
            if (open && kind != null && o.session.equals(row.id)) {
                return new InFlight(
                        entry.getKey(),
                        kind,
                        o.number,
                        o.epoch,
                        row.highestAttempt,
                        "",
                        o.acceptedAtMillis,
                        target(row, o),
                        o.acceptLoss,
                        FakeForks.originOf(row, o),
                        stored(row, o),
                        o.durable);
            }
        }
        return null;
    }

    static AcceptAnswer accepted(Session row, Operation operation, @Nullable ErrorCode error) {
        return new AcceptAnswer(
                true,
                operation.number,
                row.epoch,
                operation.node,
                error,
                error == null ? "" : error.summary(),
                null,
                null,
                target(row, operation),
                operation.acceptLoss,
                FakeForks.originOf(row, operation),
                stored(row, operation),
                operation.durable);
    }

    static AcceptAnswer refused(
            Session row, @Nullable ErrorCode error, @Nullable OperationId tombstone) {
        ErrorCode code = error == null ? ErrorCode.STALE_FENCE : error;
        return new AcceptAnswer(
                false,
                0,
                row.epoch,
                null,
                code,
                code.summary(),
                tombstone,
                null,
                null,
                false,
                null,
                null,
                false);
    }

    static @Nullable SnapshotRef target(Session row, Operation operation) {
        if (FakeForks.originOf(row, operation) != null) {
            return FakeForks.target(row, operation);
        }
        return row.snapshots.stream()
                .filter(s -> s.id().equals(operation.snapshot))
                .filter(s -> isReachable(row, operation, s))
                .findFirst()
                .orElse(null);
    }

    /** Children start where the snapshot is; the session itself where it is, if it is anywhere. */
    private static boolean isReachable(Session row, Operation operation, SnapshotRef snapshot) {
        return operation.command == Command.FORK
                || row.node == null
                || snapshot.node().equals(row.node)
                || storedOf(row, snapshot.id()) != null;
    }

    /** The target, where the object store has it whole. */
    static @Nullable DurableRef stored(Session row, Operation operation) {
        SnapshotRef target = target(row, operation);
        if (target == null) {
            return null;
        }
        Session origin = row.origin;
        boolean child = FakeForks.originOf(row, operation) != null;
        return storedOf(child && origin != null ? origin : row, target.id());
    }

    private static @Nullable DurableRef storedOf(Session row, SnapshotId snapshot) {
        return row.durables.stream()
                .filter(d -> d.state == FakeDurables.State.COMPLETE)
                .filter(d -> d.snapshot.id().equals(snapshot))
                .map(d -> d.stored)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** A known one is where this says now. */
    static void list(Session row, SnapshotRef snapshot) {
        row.snapshots.replaceAll(s -> s.id().equals(snapshot.id()) ? snapshot : s);
        if (row.snapshots.stream().noneMatch(s -> s.id().equals(snapshot.id()))) {
            row.snapshots.add(snapshot);
        }
    }

    private static List<Long> recoveries(Session row, Map<OperationId, Operation> operations) {
        return operations.values().stream()
                .filter(o -> o.session.equals(row.id))
                .filter(o -> o.kind == OperationKind.RECOVER && o.command == null)
                .filter(o -> o.error != ErrorCode.LIMIT_EXCEEDED && o.error != ErrorCode.NODE_LOST)
                .map(o -> o.acceptedAtMillis)
                .toList();
    }

    static SessionRecord record(
            Session row, Map<OperationId, Operation> operations, @Nullable InFlight begun) {
        SessionRecord record = SessionRecord.fresh(row.deadline, row.reason);
        SnapshotRef base = row.base;
        if (base != null) {
            record = record.rolledBackTo(base);
        }
        for (SnapshotRef snapshot : row.snapshots) {
            if (snapshot.epoch() < row.baseEpoch) {
                continue; // of a past that was left
            }
            record =
                    snapshot.kind() == SnapshotKind.DISK
                            ? record.withPreserved(snapshot)
                            : record.withSnapshot(snapshot);
        }
        for (String node : row.nodes) {
            record = record.withNode(node);
        }
        return new SessionRecord(
                row.state,
                row.epoch,
                row.number,
                row.node,
                record.nodes(),
                false,
                row.vm,
                record.newest(),
                record.preserved(),
                FakeDurables.newest(row),
                row.deadline,
                recoveries(row, operations),
                begun,
                row.reason,
                List.of());
    }
}
