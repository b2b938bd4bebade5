package dev.space.contract.session;

/** What a policy does when its time has come. */
public enum PolicyAction {
    PAUSE,
    SUSPEND,
    DESTROY
}
