package dev.space.store;

import dev.space.model.Durability;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.ReasonCode;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A session's row as the fenced writes see it.
 *
 * @param epochOperation the operation that took the current epoch
 * @param epochNode the node that it was taken for
 * @param lastNumber number of the last accepted operation
 * @param fenceAttempt highest attempt of that operation that wrote the row
 * @param operation the operation in flight
 * @param vm the start that made the running VM
 * @param durable the newest snapshot that the object store has whole
 * @param tombstone the DESTROY that is wanted
 * @param origin the session that it was forked from
 * @param idleAction what follows when nothing happens in it; null: nothing
 */
public record SessionRow(
        SessionId id,
        String organisation,
        String project,
        SessionState state,
        SessionState desired,
        Durability durability,
        @Nullable String engine,
        String templateName,
        String templateDigest,
        String size,
        boolean autoResume,
        @Nullable Instant deadlineAt,
        @Nullable String deadlineAction,
        long epoch,
        @Nullable String epochOperation,
        @Nullable String epochNode,
        long lastNumber,
        long fenceAttempt,
        @Nullable OperationId operation,
        @Nullable String node,
        List<String> nodesTouched,
        @Nullable Fence vm,
        @Nullable String snapshot,
        @Nullable String preserved,
        @Nullable String durable,
        String reason,
        ReasonCode reasonCode,
        Instant reasonAt,
        @Nullable OperationId tombstone,
        @Nullable SessionId origin,
        @Nullable String idleAction) {

    static final String COLUMNS =
            "id, organisation_id, project_id, state, desired, durability, engine, template_name,"
                    + " template_digest, size, auto_resume, deadline_at, deadline_action, epoch,"
                    + " epoch_operation, epoch_node, last_number, fence_attempt, operation_id,"
                    + " node_id, nodes_touched, vm_epoch, vm_number, vm_attempt, snapshot_id,"
                    + " preserved_id, durable_snapshot_id, reason, reason_code, reason_at,"
                    + " tombstone_operation,"
                    + " origin_session_id, idle_action";

    static final String SELECT = "SELECT " + COLUMNS + " FROM sessions WHERE id = ?";

    static SessionRow read(ResultSet row) throws SQLException {
        return new SessionRow(
                new SessionId(row.getString("id")),
                row.getString("organisation_id"),
                row.getString("project_id"),
                SessionState.valueOf(row.getString("state")),
                SessionState.valueOf(row.getString("desired")),
                Durability.valueOf(row.getString("durability")),
                row.getString("engine"),
                row.getString("template_name"),
                row.getString("template_digest"),
                row.getString("size"),
                row.getBoolean("auto_resume"),
                Db.instant(row, "deadline_at"),
                row.getString("deadline_action"),
                row.getLong("epoch"),
                row.getString("epoch_operation"),
                row.getString("epoch_node"),
                row.getLong("last_number"),
                row.getLong("fence_attempt"),
                operation(row.getString("operation_id")),
                row.getString("node_id"),
                List.of((String[]) row.getArray("nodes_touched").getArray()),
                vm(row),
                row.getString("snapshot_id"),
                row.getString("preserved_id"),
                row.getString("durable_snapshot_id"),
                row.getString("reason"),
                ReasonCode.valueOf(row.getString("reason_code")),
                Objects.requireNonNull(Db.instant(row, "reason_at")),
                operation(row.getString("tombstone_operation")),
                session(row.getString("origin_session_id")),
                row.getString("idle_action"));
    }

    private static @Nullable SessionId session(@Nullable String id) {
        return id == null ? null : new SessionId(id);
    }

    private static @Nullable OperationId operation(@Nullable String id) {
        return id == null ? null : new OperationId(id);
    }

    private static @Nullable Fence vm(ResultSet row) throws SQLException {
        long number = row.getLong("vm_number");
        return number == 0
                ? null
                : new Fence(row.getLong("vm_epoch"), number, row.getLong("vm_attempt"));
    }

    /** True when the write of this operation under this fence is behind what the row has seen. */
    boolean isFenced(OperationId writer, Fence fence) {
        return fence.epoch() != epoch
                || fence.number() != lastNumber
                || fence.attempt() < fenceAttempt
                || !writer.equals(operation);
    }
}
