package dev.space.testkit;

import dev.space.contract.control.AcceptAnswer;
import dev.space.contract.control.AcceptOperation;
import dev.space.contract.session.InFlight;
import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.SessionState;
import dev.space.testkit.FakeStore.Operation;
import dev.space.testkit.FakeStore.Session;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Why the fake's rows refuse an operation, as the product's do. */
final class FakeAcceptance {

    private FakeAcceptance() {}

    static @Nullable AcceptAnswer refusal(
            AcceptOperation r,
            Session row,
            @Nullable Operation known,
            Map<OperationId, Operation> operations) {
        boolean destroy = r.kind() == OperationKind.DESTROY;
        if (row.state == SessionState.DESTROYED || (row.tombstone != null && !destroy)) {
            return FakeRecords.refused(row, ErrorCode.GONE, row.tombstone);
        }
        if (known != null && known.state != OperationState.REQUESTED) {
            return FakeRecords.refused(row, known.error, row.tombstone);
        }
        if (known == null && !r.automatic()) {
            return FakeRecords.refused(row, ErrorCode.NOT_FOUND, row.tombstone);
        }
        InFlight open = FakeRecords.inFlight(row, operations);
        if (open != null && !destroy && !open.operation().equals(r.supersedes())) {
            return FakeRecords.refused(row, ErrorCode.OPERATION_IN_PROGRESS, null);
        }
        if (r.onlyIfDeadlinePassed()
                && (row.deadline == null || r.reason().atMillis() < due(row))) {
            return new AcceptAnswer(
                    false,
                    0,
                    row.epoch,
                    null,
                    ErrorCode.PRECONDITION_FAILED,
                    "the deadline was changed",
                    null,
                    row.deadline,
                    null,
                    false,
                    null,
                    null,
                    false);
        }
        return null;
    }

    private static long due(Session row) {
        return row.deadline == null ? 0 : row.deadline.atMillis();
    }
}
