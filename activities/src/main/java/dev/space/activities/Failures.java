package dev.space.activities;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import io.temporal.failure.ApplicationFailure;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Turns the catalogue's errors into failures whose type is the code's name. */
final class Failures {
    private Failures() {}

    static <T extends @Nullable Object> T translated(Supplier<T> work) {
        try {
            return work.get();
        } catch (SpaceException failure) {
            throw of(failure.code(), String.valueOf(failure.getMessage()));
        } catch (RuntimeException defect) {
            // Without the cause: what a library says may hold what must not be in a history.
            throw of(ErrorCode.INTERNAL, defect.getClass().getName());
        }
    }

    static ApplicationFailure of(ErrorCode code, String detail) {
        return code.isRetryable()
                ? ApplicationFailure.newFailure(detail, code.name())
                : ApplicationFailure.newNonRetryableFailure(detail, code.name());
    }
}
