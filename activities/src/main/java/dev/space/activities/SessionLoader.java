package dev.space.activities;

import dev.space.contract.control.ControlActivities.LoadedSession;
import dev.space.contract.session.DurableRef;
import dev.space.contract.session.InFlight;
import dev.space.contract.session.Reason;
import dev.space.contract.session.SessionRecord;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.OperationState;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.store.CommitStore;
import dev.space.store.DurableRows;
import dev.space.store.OperationRow;
import dev.space.store.RepairStore;
import dev.space.store.SessionRow;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Rebuilds a session's record from its rows, for a workflow that starts again. */
@Singleton
public class SessionLoader {
    private final RepairStore rows;
    private final DurableRows durables;

    @Inject
    public SessionLoader(RepairStore rows, DurableRows durables) {
        this.rows = rows;
        this.durables = durables;
    }

    /** Null without a row. */
    @Nullable LoadedSession load(SessionId session) {
        SessionRow row = rows.session(session).orElse(null);
        if (row == null) {
            return null;
        }
        OperationRow begun = begun(row);
        SessionRecord record =
                new SessionRecord(
                        row.state(),
                        row.epoch(),
                        row.lastNumber(),
                        row.node(),
                        row.nodesTouched(),
                        false,
                        row.vm(),
                        snapshot(session, row.snapshot()),
                        snapshot(session, row.preserved()),
                        durable(row.durable()),
                        ControlActivitiesImpl.deadline(row.deadlineAt(), row.deadlineAction()),
                        recoveries(session),
                        inFlight(begun, row),
                        new Reason(row.reasonCode(), row.reason(), row.reasonAt().toEpochMilli()),
                        List.of());
        return new LoadedSession(record, row.tombstone(), begun == null ? null : begun.argument());
    }

    private @Nullable SnapshotRef snapshot(SessionId session, @Nullable String id) {
        if (id == null) {
            return null;
        }
        CommitStore.Snapshot found = rows.snapshot(session, id).orElse(null);
        return found == null ? null : ref(found);
    }

    private @Nullable DurableRef durable(@Nullable String id) {
        return id == null
                ? null
                : durables.find(new SnapshotId(id)).map(SessionLoader::ref).orElse(null);
    }

    static DurableRef ref(DurableRows.Stored row) {
        return new DurableRef(
                ref(row.snapshot()),
                row.lineage(),
                row.manifestKey(),
                row.manifestDigest(),
                row.bytesStored(),
                row.bytesUploaded(),
                row.bytesLogical());
    }

    static SnapshotRef ref(CommitStore.Snapshot row) {
        return new SnapshotRef(
                row.id(),
                row.kind(),
                row.node(),
                row.epoch(),
                row.stop(),
                row.bytes(),
                row.takenAt().toEpochMilli());
    }

    /** Those that a policy may still count. */
    private List<Long> recoveries(SessionId session) {
        return rows.recoveries(session, SessionRecord.RECOVERIES_MAX).stream()
                .map(Instant::toEpochMilli)
                .toList();
    }

    private @Nullable OperationRow begun(SessionRow row) {
        if (row.operation() == null) {
            return null;
        }
        OperationRow operation = rows.operation(row.operation()).orElse(null);
        return operation == null || operation.state() != OperationState.ACCEPTED ? null : operation;
    }

    private @Nullable InFlight inFlight(@Nullable OperationRow operation, SessionRow row) {
        if (operation == null) {
            return null;
        }
        Instant accepted =
                operation.acceptedAt() == null ? operation.requestedAt() : operation.acceptedAt();
        CommitStore.Snapshot target = rows.target(row, operation).orElse(null);
        return new InFlight(
                operation.id(),
                operation.kind(),
                operation.number(),
                row.epoch(),
                row.fenceAttempt(),
                "",
                accepted.toEpochMilli(),
                target == null ? null : ref(target),
                operation.acceptLoss(),
                RepairStore.origin(row, operation),
                target == null ? null : durable(target.id().value()),
                operation.durable());
    }
}
