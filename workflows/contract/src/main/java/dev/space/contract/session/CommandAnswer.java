package dev.space.contract.session;

import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.SessionState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What became of a command.
 *
 * @param operation the operation that carries the command out: its own, or the one it joined
 * @param state stable state of the session when this was answered
 * @param error set when the command was refused or, for {@code create}, failed
 * @param allowed commands that the state allows; filled when {@code error} is set
 */
public record CommandAnswer(
        Verdict verdict,
        OperationId operation,
        SessionState state,
        long epoch,
        @Nullable String node,
        @Nullable ErrorCode error,
        String detail,
        List<Command> allowed) {

    /** The kinds of answer. */
    public enum Verdict {
        /** The operation runs, or for {@code create}: is done. */
        ACCEPTED,
        /** The session is already so; the row is DONE. */
        ALREADY,
        /** Another operation does the same; the row ends with that one's outcome. */
        JOINED,
        /** It is decided again when the operation in flight ends. */
        WAITING,
        /** The row is REFUSED, or FAILED for a creation. */
        REFUSED
    }
}
