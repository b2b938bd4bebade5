package dev.space.manager;

import dev.space.privileged.RefusalCode;

/** A request that is answered with "no" and the reason. */
final class Refusal extends Exception {

    private static final long serialVersionUID = 1L;

    private final RefusalCode code;

    Refusal(RefusalCode code, String detail) {
        super(detail);
        this.code = code;
    }

    RefusalCode code() {
        return code;
    }
}
