package dev.space.model.lifecycle;

/** What an event does to a session. */
public enum EventEffect {
    IGNORE("nothing"),
    /** Or FAILED, when the policy's number of recoveries is used up. */
    RECOVER("RECOVER by policy, else FAILED"),
    /**
     * An exit before thaw is told by the start's own answer; the held report then names another VM.
     */
    HOLD("held, judged again on the state the operation ends in"),
    /** Until the node is back or declared lost. */
    RETRY("the step is retried; shown as node away"),
    END_OPERATION("the operation ends now, as its row says; then judged again"),
    NODE_AWAY("nothing is sent there; shown as node away"),
    NODE_BACK("go on; no longer shown as away"),
    NODE_LOST("RECOVER from a DURABLE snapshot, else FAILED(NODE_LOST)"),
    STORED_NODE_LOST("SUSPENDED if the snapshot is DURABLE, else FAILED(NODE_LOST)"),
    FENCED("the node ends its old VM by the lease's answer"),
    PAUSE("PAUSE"),
    SUSPEND("SUSPEND"),
    POLICY("what the policy says, checked against the row"),
    DESTROY_BY_POLICY("DESTROY if the policy says so, checked against the row"),
    DISCARD("DESTROY (discard)"),
    REVOKE("VM ended, FAILED(KEY_REVOKED)"),
    NOTHING_NEW("nothing new starts; what runs goes on for a stated time");

    private final String text;

    EventEffect(String text) {
        this.text = text;
    }

    /** As it reads in docs/lifecycle.md. */
    public String text() {
        return text;
    }
}
