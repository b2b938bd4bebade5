package dev.space.model.lifecycle;

/** What a cell may depend on besides state, operation and command. */
public enum Fact {
    AUTO_RESUME("auto-resume"),
    SNAPSHOT_LEFT("a snapshot is left"),
    SAME_KEY("the idempotency key is the same"),
    /** SUSPEND: parts are uploaded and the commit is not sent; RESTORE: the start is not sent. */
    CANCELLABLE("the transfer can still be cancelled"),
    /** SUSPEND has published its snapshot, so that the session is at least PAUSED. */
    PUBLISHED("published"),
    VM_RUNS("the VM runs");

    private final String text;

    Fact(String text) {
        this.text = text;
    }

    /** As it reads in docs/lifecycle.md after "if". */
    public String text() {
        return text;
    }
}
