package dev.space.model;

import org.jspecify.annotations.Nullable;

/**
 * A failure with its code from the catalogue and a detail that names the cause and the next step.
 */
public final class SpaceException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final ErrorCode code;

    public SpaceException(ErrorCode code, String detail) {
        this(code, detail, null);
    }

    public SpaceException(ErrorCode code, String detail, @Nullable Throwable cause) {
        super(detail, cause);
        this.code = code;
    }

    public ErrorCode code() {
        return code;
    }
}
