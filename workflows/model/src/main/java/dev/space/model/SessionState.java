package dev.space.model;

/** The stable states of a session; docs/lifecycle.md says what each one means and who knows. */
public enum SessionState {
    NEW,
    WARM,
    RUNNING,
    PAUSED,
    SUSPENDED,
    FAILED,
    DESTROYED
}
