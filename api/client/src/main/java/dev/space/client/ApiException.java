package dev.space.client;

import org.jspecify.annotations.Nullable;

/** The API refused a request: the problem document that it answered. */
public final class ApiException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int status;
    private final String code;
    private final @Nullable String operation;

    public ApiException(int status, String code, String detail) {
        this(status, code, detail, null);
    }

    ApiException(int status, String code, String detail, @Nullable String operation) {
        super(detail);
        this.status = status;
        this.code = code;
        this.operation = operation;
    }

    /** The operation that failed, or that still goes on with {@code TIMED_OUT}. */
    public @Nullable String operation() {
        return operation;
    }

    public int status() {
        return status;
    }

    /**
     * Name from the error catalogue (docs/errors.md), or HTTP_nnn where the answer was no problem.
     */
    public String code() {
        return code;
    }
}
