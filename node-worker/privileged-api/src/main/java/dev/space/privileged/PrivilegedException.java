package dev.space.privileged;

import org.jspecify.annotations.Nullable;

/** A request that was refused, or a node-manager that does not answer. */
public final class PrivilegedException extends Exception {

    private static final long serialVersionUID = 1L;

    private final RefusalCode code;

    public PrivilegedException(RefusalCode code, String detail) {
        this(code, detail, null);
    }

    public PrivilegedException(RefusalCode code, String detail, @Nullable Throwable cause) {
        super(detail, cause);
        this.code = code;
    }

    public RefusalCode code() {
        return code;
    }
}
