package dev.space.model.lifecycle;

import dev.space.model.OperationKind;
import dev.space.model.SessionState;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One operation: where it may start and where it leads.
 *
 * @param to null: where it came from
 * @param failed where a failure leads; null: where it came from
 * @param startsVm whether it takes a new epoch
 * @param noReturn the step after which it can only succeed; empty when there is none
 */
public record OperationRow(
        OperationKind kind,
        Set<SessionState> from,
        @Nullable SessionState to,
        @Nullable SessionState failed,
        boolean startsVm,
        String noReturn) {

    public OperationRow {
        from = Set.copyOf(EnumSet.copyOf(from));
    }
}
