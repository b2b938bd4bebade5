package dev.space.workflow;

import dev.space.model.ErrorCode;
import dev.space.model.OperationState;

/** A step failed for good: the operation ends as its row in the table says. */
final class StepFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final ErrorCode code;
    private final boolean cancelled;

    StepFailure(ErrorCode code, String detail) {
        this(code, detail, false);
    }

    private StepFailure(ErrorCode code, String detail, boolean cancelled) {
        super(detail);
        this.code = code;
        this.cancelled = cancelled;
    }

    /** A newer command wanted it to end here. */
    static StepFailure cancelled(String detail) {
        return new StepFailure(ErrorCode.STALE_FENCE, detail, true);
    }

    /** How the operation's row ends. */
    OperationState outcome() {
        return cancelled ? OperationState.CANCELLED : OperationState.FAILED;
    }

    /** Another copy of the same snapshot may serve. */
    boolean isOfTheCopy() {
        return code == ErrorCode.SNAPSHOT_NOT_FOUND || code == ErrorCode.SNAPSHOT_CORRUPT;
    }

    ErrorCode code() {
        return code;
    }

    String detail() {
        String message = getMessage();
        return message == null ? code.summary() : message;
    }
}
