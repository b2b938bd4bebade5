package dev.space.service.rest;

import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.Ids;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import dev.space.store.CommandArguments;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Body of a lifecycle command; most take none. */
@Schema(name = "CommandBody")
public record CommandBody(
        @Schema(description = "checkpoint: keeps the snapshot under this name")
                @Nullable String name,
        @Schema(description = "rollback: id of the snapshot to go back to")
                @Nullable String snapshot,
        @Schema(description = "rollback: go even where the present cannot be kept as a snapshot")
                @Nullable Boolean acceptLoss,
        @Schema(description = "checkpoint: keeps it in the object store too")
                @Nullable Boolean durable) {

    /** What the command was sent with, or why it does not fit to it. */
    CommandArguments checked(Command command) {
        return new CommandArguments(
                checkedName(command),
                checkedSnapshot(command),
                checkedLoss(command),
                checkedDurable(command));
    }

    private @Nullable String checkedName(Command command) {
        if (name == null) {
            return null;
        }
        if (command != Command.CHECKPOINT) {
            throw CreateSession.invalid("only a checkpoint has a name");
        }
        if (!name.matches("[A-Za-z0-9][A-Za-z0-9._-]{0,62}")) {
            throw CreateSession.invalid(
                    "name is letters, digits and ._- with at most 63 characters");
        }
        return name;
    }

    private @Nullable SnapshotId checkedSnapshot(Command command) {
        if (command != Command.ROLLBACK) {
            if (snapshot != null) {
                throw CreateSession.invalid("only a rollback goes to a snapshot");
            }
            return null;
        }
        if (snapshot == null) {
            throw CreateSession.invalid(
                    "snapshot is missing: a rollback names the snapshot that it goes to");
        }
        if (!Ids.isValid(SnapshotId.PREFIX, snapshot)) {
            throw new SpaceException(
                    ErrorCode.SNAPSHOT_NOT_FOUND,
                    "there is no snapshot " + CreateSession.printable(snapshot));
        }
        return new SnapshotId(snapshot);
    }

    private boolean checkedDurable(Command command) {
        if (durable != null && command != Command.CHECKPOINT) {
            throw CreateSession.invalid("only a checkpoint takes durable; suspend always stores");
        }
        return Boolean.TRUE.equals(durable);
    }

    private boolean checkedLoss(Command command) {
        if (acceptLoss != null && command != Command.ROLLBACK) {
            throw CreateSession.invalid("only a rollback takes acceptLoss");
        }
        return Boolean.TRUE.equals(acceptLoss);
    }
}
