package dev.space.contract.session;

import dev.space.model.Command;
import dev.space.model.OperationId;
import org.jspecify.annotations.Nullable;

/**
 * One command whose row is REQUESTED.
 *
 * <p>DATA_PLANE is submitted only for sessions with auto-resume; others are refused by the edge.
 *
 * @param command null for {@code create}, which is no command on a session that exists
 * @param name name of a checkpoint; null when it has none
 */
public record SubmitCommand(
        OperationId operation, @Nullable Command command, @Nullable String name) {

    public static SubmitCommand create(OperationId operation) {
        return new SubmitCommand(operation, null, null);
    }

    public static SubmitCommand of(OperationId operation, Command command) {
        return new SubmitCommand(operation, command, null);
    }
}
