package dev.space.node.sandbox;

/** Thrown by a test's crash point: the step must leave everything as the end of a process would. */
public final class SimulatedCrash extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public SimulatedCrash(String where) {
        super(where);
    }
}
