package dev.space.model;

/** Where the row of an operation is. Everything after ACCEPTED is final. */
public enum OperationState {
    REQUESTED,
    ACCEPTED,
    DONE,
    FAILED,
    REFUSED,
    CANCELLED,
    SUPERSEDED;

    /** True when the row never changes again. */
    public boolean ended() {
        return this != REQUESTED && this != ACCEPTED;
    }
}
