package dev.space.service.problem;

import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.SessionState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A refusal that can say in which state the session is and what that state allows. */
public final class ProblemException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    public ProblemException(
            ErrorCode code,
            String detail,
            @Nullable OperationId operation,
            @Nullable SessionState state,
            List<Command> allowed) {
        super(detail);
        Problem plain = Problem.of(code, detail.isBlank() ? code.summary() : detail);
        Problem named = operation == null ? plain : plain.with(operation.value());
        this.problem = state == null ? named : named.with(state, allowed);
    }

    public Problem problem() {
        return problem;
    }
}
