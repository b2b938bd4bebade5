package dev.space.durable;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import io.minio.errors.ErrorResponseException;
import java.util.Set;

/** What an S3 server's refusal means here. */
record S3Failure(int status, String code, String message) {

    private static final int NO_ANSWER = 0;

    private static final Set<String> FULL =
            Set.of(
                    "InsufficientStorage",
                    "XMinioStorageFull",
                    "QuotaExceeded",
                    "XMinioAdminBucketQuotaExceeded",
                    "EntityTooLarge");

    private static final Set<String> REFUSED =
            Set.of("AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch");

    static S3Failure of(Exception e) {
        if (e instanceof ErrorResponseException answer) {
            int status = answer.response() == null ? NO_ANSWER : answer.response().code();
            String code = String.valueOf(answer.errorResponse().code());
            return new S3Failure(status, code, String.valueOf(answer.errorResponse().message()));
        }
        return new S3Failure(NO_ANSWER, "", String.valueOf(e.getMessage()));
    }

    boolean isNotThere() {
        return code.equals("NoSuchKey") || code.equals("NoSuchObject");
    }

    boolean isAlreadyThere() {
        return status == 412 || code.equals("PreconditionFailed");
    }

    boolean isBeyondEnd() {
        return status == 416 || code.equals("InvalidRange");
    }

    private boolean isFull() {
        return status == 507 || FULL.contains(code) || message.contains("No space left");
    }

    boolean isWorthRepeating() {
        return !isFull() && (status == NO_ANSWER || status >= 500 || status == 429);
    }

    SpaceException toException(String what, Exception cause) {
        if (isFull()) {
            return new SpaceException(
                    ErrorCode.OBJECT_STORE_FULL,
                    "cannot " + what + ": no room is left; remove sessions or give it more room",
                    cause);
        }
        String told = code.isEmpty() ? message : code + " (" + status + "), " + message;
        String next =
                REFUSED.contains(code) ? "; check space.object-store.access-key and its file" : "";
        return new SpaceException(
                ErrorCode.OBJECT_STORE_UNAVAILABLE, "cannot " + what + ": " + told + next, cause);
    }
}
