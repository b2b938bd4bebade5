package dev.space.model.lifecycle;

import dev.space.model.OperationKind;
import dev.space.model.SessionState;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where a session is when something is asked of it.
 *
 * @param state the stable state, which an operation in flight started from
 * @param inFlight null when no operation is
 * @param epoch only for the message when the situation is impossible
 */
public record Situation(
        SessionState state, @Nullable OperationKind inFlight, long epoch, Set<Fact> facts) {

    public static Situation of(SessionState state) {
        return new Situation(state, null, 0, Set.of());
    }

    public static Situation of(SessionState state, OperationKind inFlight) {
        return new Situation(state, inFlight, 0, Set.of());
    }
}
