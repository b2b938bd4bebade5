package dev.space.contract.control;

import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.OperationState;
import dev.space.model.SessionId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Rows that end without having been carried out. */
public record EndOperations(SessionId session, List<Ended> operations) {

    /** How one of them ends. */
    public record Ended(
            OperationId operation,
            OperationState outcome,
            @Nullable ErrorCode error,
            String detail) {}
}
