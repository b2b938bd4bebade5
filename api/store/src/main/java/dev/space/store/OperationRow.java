package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.SessionId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A command's row. */
public record OperationRow(
        OperationId id,
        SessionId session,
        OperationKind kind,
        OperationState state,
        String actor,
        @Nullable String argument,
        @Nullable String snapshot,
        boolean acceptLoss,
        boolean durable,
        long number,
        long epoch,
        @Nullable ErrorCode error,
        @Nullable String detail,
        Instant requestedAt,
        @Nullable Instant acceptedAt,
        @Nullable Instant endedAt) {

    static final String COLUMNS =
            "id, session_id, kind, state, actor, argument, snapshot_id, accept_loss,"
                    + " durable, coalesce(number, 0) AS number, coalesce(epoch, 0) AS epoch,"
                    + " error_code, error_detail, requested_at, accepted_at, ended_at";

    static final String SELECT = "SELECT " + COLUMNS + " FROM operations WHERE id = ?";

    static OperationRow read(ResultSet row) throws SQLException {
        String error = row.getString("error_code");
        return new OperationRow(
                new OperationId(row.getString("id")),
                new SessionId(row.getString("session_id")),
                OperationKind.valueOf(row.getString("kind")),
                OperationState.valueOf(row.getString("state")),
                row.getString("actor"),
                row.getString("argument"),
                row.getString("snapshot_id"),
                row.getBoolean("accept_loss"),
                row.getBoolean("durable"),
                row.getLong("number"),
                row.getLong("epoch"),
                error == null ? null : ErrorCode.valueOf(error),
                row.getString("error_detail"),
                Objects.requireNonNull(Db.instant(row, "requested_at")),
                Db.instant(row, "accepted_at"),
                Db.instant(row, "ended_at"));
    }
}
