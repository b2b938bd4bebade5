package dev.space.workflow;

import dev.space.contract.session.Reason;
import dev.space.model.Command;
import dev.space.model.OperationId;
import org.jspecify.annotations.Nullable;

/**
 * What an operation was asked for with.
 *
 * @param command null for CREATE and for what the platform starts by itself
 * @param name name of a checkpoint
 * @param automatic the row does not exist yet
 * @param onlyIfDeadlinePassed the row's deadline decides
 */
record Request(
        OperationId operation,
        @Nullable Command command,
        @Nullable String name,
        boolean automatic,
        boolean onlyIfDeadlinePassed,
        Reason reason) {}
