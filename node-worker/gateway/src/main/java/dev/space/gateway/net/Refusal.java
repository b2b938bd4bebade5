package dev.space.gateway.net;

import dev.space.model.egress.EgressReason;

/** Why there is no connection to where a sandbox wants to go. */
public final class Refusal extends Exception {

    private static final long serialVersionUID = 1L;

    private final EgressReason reason;

    /** Without a stack: it is an answer and no defect. */
    public Refusal(EgressReason reason, String detail) {
        super(detail, null, false, false);
        this.reason = reason;
    }

    public EgressReason reason() {
        return reason;
    }
}
