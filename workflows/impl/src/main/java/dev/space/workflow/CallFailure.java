package dev.space.workflow;

import dev.space.model.ErrorCode;
import io.temporal.failure.ActivityFailure;
import io.temporal.failure.ApplicationFailure;
import io.temporal.failure.CanceledFailure;
import java.util.Arrays;

/**
 * How one attempt of a step failed.
 *
 * @param unknown the call may have had its effect and may still have it: nobody answered
 */
record CallFailure(ErrorCode code, String detail, boolean unknown) {

    /** A cancelled call is no failure: the cancellation goes on up. */
    static CallFailure of(ActivityFailure failure) {
        Throwable cause = failure.getCause();
        if (cause instanceof CanceledFailure cancelled) {
            throw cancelled;
        }
        if (cause instanceof ApplicationFailure answer) {
            ErrorCode code = codeOf(answer.getType());
            boolean unknown =
                    switch (code) {
                        case NODE_UNREACHABLE, UNAVAILABLE, TIMED_OUT, NOT_READY -> true;
                        default -> false;
                    };
            return new CallFailure(code, String.valueOf(answer.getOriginalMessage()), unknown);
        }
        return new CallFailure(
                ErrorCode.NODE_UNREACHABLE,
                "no answer in time: " + failure.getActivityType(),
                true);
    }

    /** An exception that is not of the catalogue is a defect of the callee, and an answer. */
    private static ErrorCode codeOf(String type) {
        return Arrays.stream(ErrorCode.values())
                .filter(c -> c.name().equals(type))
                .findFirst()
                .orElse(ErrorCode.INTERNAL);
    }

    StepFailure asStepFailure() {
        return new StepFailure(code, detail);
    }
}
