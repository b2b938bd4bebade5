package dev.space.durable;

/** The caller asked for the end of a transfer; nothing it would have published exists. */
public final class TransferCancelledException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public TransferCancelledException(String what) {
        super(what + " was cancelled");
    }
}
