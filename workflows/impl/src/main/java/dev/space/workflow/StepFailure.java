package dev.space.workflow;

import dev.space.model.ErrorCode;

/** A step failed for good: the operation ends as its row in the table says. */
final class StepFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final ErrorCode code;

    StepFailure(ErrorCode code, String detail) {
        super(detail);
        this.code = code;
    }

    ErrorCode code() {
        return code;
    }

    String detail() {
        String message = getMessage();
        return message == null ? code.summary() : message;
    }
}
