package dev.space.node.sandbox;

/** The session was released while a step waited for it; the step looks it up again. */
final class SessionClosedException extends RuntimeException {

    private static final long serialVersionUID = 1L;
}
