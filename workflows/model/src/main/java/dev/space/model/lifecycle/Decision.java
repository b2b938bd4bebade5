package dev.space.model.lifecycle;

import dev.space.model.ErrorCode;
import dev.space.model.OperationKind;

/** What the table answers to a command. Whoever asked acts on it; the table never does. */
public sealed interface Decision {

    /** Start this operation. */
    record Go(OperationKind kind) implements Decision {}

    /** The session is already so: success without an operation. */
    record Already() implements Decision {}

    /** The operation in flight does the same: take its result. */
    record Join() implements Decision {}

    /** Decide again on the stable state that the operation in flight ends in. */
    record Wait() implements Decision {}

    /** Cancel the transfer in flight, then decide again. */
    record Cancel() implements Decision {}

    /** Fence and end what runs, without an undo that could continue a VM, and start this. */
    record Supersede(OperationKind kind) implements Decision {}

    /** Refuse with this code. */
    record Refuse(ErrorCode code) implements Decision {}
}
