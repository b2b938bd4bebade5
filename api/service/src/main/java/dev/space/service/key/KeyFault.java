package dev.space.service.key;

/**
 * A key service that did not do. Its message names no address and nothing that the service said.
 */
final class KeyFault extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean passing;

    KeyFault(boolean passing, String message) {
        super(message);
        this.passing = passing;
    }

    /** The service gave no answer; otherwise it said no. */
    boolean isPassing() {
        return passing;
    }
}
